/* SPDX-License-Identifier: BSD-3-Clause */
#include "target/controller/controller.h"
#include "target/controller/encoder.h"

/* Reasons why the core moves bytes. */
static const char not_reached[] = "the controller does not reach the memory";
static const char address_bits[] = "the address has more bits than the controller's registers";
static const char no_zeros[] = "the controller reads zeros from memory, and no aligned block of "
                               "zeros is given";
static const char far_zeros[] = "the controller does not reach the block of zeros";
static const char steps_differ[] = "the rows are not aligned alike: a step is not a multiple of "
                                   "the controller's alignment";
static const char sides_differ[] = "source and destination are not aligned alike";
static const char too_short[] = "the run is shorter than the controller's minimum";
static const char run_limit[] =
    "the controller's maximum run is shorter than the required alignment";
static const char head_or_tail[] = "the controller cannot begin or end a run at these addresses";

static const struct controller *const controllers[] = {
    &controller_zdma,  &controller_bcm2835, &controller_pdma,
    &controller_pl330, &controller_hexagon, &controller_aie,
};

const struct controller *controller_of(const struct target_profile *profile)
{
    for (size_t i = 0; i < sizeof controllers / sizeof *controllers; i++)
        if (controllers[i]->kind == profile->dma.controller)
            return controllers[i];
    return NULL;
}

static uint64_t or_no_limit(uint64_t limit)
{
    return limit > 0 ? limit : UINT64_MAX;
}

/* Lowers a limit to `most`. A limit of 0 means no limit. */
static void tighten(size_t *limit, size_t most)
{
    if (most > 0 && (*limit == 0 || *limit > most))
        *limit = most;
}

struct mli_channel_caps controller_caps(const struct target_profile *profile,
                                        const struct controller *controller, bool fill)
{
    const struct profile_dma *dma = &profile->dma;
    struct mli_channel_caps caps = {.loops = dma->loops,
                                    .count_max = (size_t)dma->count_max,
                                    .run_max = (size_t)dma->run_max,
                                    .step_max = (size_t)dma->step_max,
                                    .bytes_max = (size_t)dma->bytes_max,
                                    .granularity = dma->granularity,
                                    .src_align = dma->alignment,
                                    .dst_align = dma->alignment};

    if (!controller)
        return caps;
    if (caps.loops > profile_controller_loops[controller->kind])
        caps.loops = profile_controller_loops[controller->kind];
    tighten(&caps.count_max, controller->count_max);
    tighten(&caps.run_max, controller->run_max);
    tighten(&caps.step_max, controller->step_max);
    tighten(&caps.bytes_max, controller->bytes_max);
    if (fill && controller->distinct_rows)
        tighten(&caps.bytes_max, CONTROLLER_ZEROS_SIZE);
    return caps;
}

static bool writes_zeros(const struct target_profile *profile, const struct controller *controller)
{
    return profile->dma.fills && !(controller && controller->reads_zeros);
}

/* Returns the limits of a descriptor for copies or for fills. */
static struct cut_limits limits_of(const struct target_profile *profile,
                                   const struct controller *controller, bool fill)
{
    const struct mli_channel_caps caps = controller_caps(profile, controller, fill);
    struct cut_limits limits = {.loops = caps.loops,
                                .count_max = or_no_limit(caps.count_max),
                                .run_max = or_no_limit(caps.run_max),
                                .linear_run_max = or_no_limit(caps.run_max),
                                .step_max = or_no_limit(caps.step_max),
                                .gap_max = or_no_limit(controller ? controller->gap_max : 0),
                                .bytes_max = or_no_limit(caps.bytes_max),
                                .granularity = profile->dma.granularity,
                                .alignment = profile->dma.alignment};

    if (controller && limits.loops > 0 && controller->linear_run_max > limits.run_max)
        limits.linear_run_max = controller->linear_run_max;
    if (fill && !writes_zeros(profile, controller)) {
        if (limits.run_max > CONTROLLER_ZEROS_SIZE)
            limits.run_max = CONTROLLER_ZEROS_SIZE;
        if (limits.linear_run_max > CONTROLLER_ZEROS_SIZE)
            limits.linear_run_max = CONTROLLER_ZEROS_SIZE;
    }
    return limits;
}

/* Sets *whole to descriptor `index` of the plan. Returns false if the descriptor writes nothing. */
static bool take_whole(const struct mli_plan *plan, uint32_t index, struct mli_descriptor *whole)
{
    const struct mli_fill_slab *slab = index > 0 ? &plan->slab[index - 1] : NULL;
    struct mli_copy_box *box = &whole->box;

    *whole = (struct mli_descriptor){.index = index};
    if (!slab) {
        *box = plan->box;
    } else {
        box->dst = slab->dst;
        box->run = slab->run;
        box->loops = slab->loops;
        for (size_t i = 0; i < slab->loops; i++)
            box->loop[i] = (struct mli_copy_loop){slab->loop[i].count, 0, slab->loop[i].step};
    }
    whole->bytes = box->run;
    for (size_t i = 0; i < box->loops; i++)
        whole->bytes *= box->loop[i].count;
    return whole->bytes > 0;
}

/* Returns why the controller does not reach the bytes first .. last, or null. */
static const char *reaches(const struct target_profile *profile, uint64_t first, uint64_t length)
{
    const uint64_t ends[] = {first, first + (length - 1)};
    const uint32_t bits = profile->dma.address_bits;

    if (ends[1] < first || (bits > 0 && bits < 64 && ends[1] >> bits != 0))
        return address_bits;
    for (size_t i = 0; i < 2; i++) {
        const struct profile_memory *memory = profile_memory_at(profile, ends[i]);

        if (memory && !(memory->reached_by & PROFILE_DMA))
            return not_reached;
    }
    return NULL;
}

/* Returns why the controller cannot move any part of the box, or null. */
static const char *refuses_box(const struct target_profile *profile, const struct mli_copy_box *box,
                               bool fill)
{
    const uint32_t alignment = profile->dma.alignment;
    const uint64_t src = (uint64_t)(uintptr_t)box->src, dst = (uint64_t)(uintptr_t)box->dst;
    uint64_t src_length = box->run, dst_length = box->run;
    const char *why;

    for (size_t i = 0; i < box->loops; i++) {
        src_length += (box->loop[i].count - 1) * box->loop[i].src_step;
        dst_length += (box->loop[i].count - 1) * box->loop[i].dst_step;
    }
    why = reaches(profile, dst, dst_length);
    if (!why && !fill)
        why = reaches(profile, src, src_length);
    if (why)
        return why;
    if (!fill && (src - dst) % alignment != 0)
        return sides_differ;
    for (size_t i = 0; i < box->loops; i++)
        if (box->loop[i].src_step % alignment != 0 || box->loop[i].dst_step % alignment != 0)
            return steps_differ;
    return NULL;
}

/* Returns why the controller cannot copy zeros from the block at `zeros`, or null. */
static const char *refuses_zeros(const struct target_profile *profile, uint64_t zeros)
{
    if (zeros == 0 || zeros % profile->dma.alignment != 0)
        return no_zeros;
    return reaches(profile, zeros, CONTROLLER_ZEROS_SIZE) ? far_zeros : NULL;
}

/* Returns whether every piece of a run can begin at an aligned address, if the run is split. */
static bool splits_runs(const struct cut_limits *limits, uint64_t run)
{
    const uint64_t most = limits->run_max < limits->bytes_max ? limits->run_max : limits->bytes_max;

    return most >= run || (most >= limits->granularity && most >= limits->alignment);
}

/* A descriptor of the plan, divided into boxes for the core and a box for the controller. */
struct division {
    const char *why; /* the reason why the core moves the boxes in `core` */
    uint32_t count;  /* number of boxes in `core` */
    struct mli_descriptor core[2];
    bool controlled; /* true: the controller moves `rest` */
    struct mli_descriptor rest;
};

/* Adds bytes `from` .. `to` of each run to the core's boxes. */
static void give_to_core(struct division *d, const struct mli_descriptor *whole, bool fill,
                         uint64_t from, uint64_t to)
{
    struct mli_descriptor *part = &d->core[d->count];

    if (from == to)
        return;
    d->count++;
    *part = *whole;
    part->box.run = to - from;
    part->box.dst = (uint8_t *)((uintptr_t)part->box.dst + (uintptr_t)from);
    if (!fill)
        part->box.src = (const uint8_t *)((uintptr_t)part->box.src + (uintptr_t)from);
    part->bytes = whole->bytes / whole->box.run * part->box.run;
}

/* Divides a descriptor of the plan. `why`: why the controller cannot do fills, or null. */
static void divide(const struct target_profile *profile, const struct mli_descriptor *whole,
                   const struct cut_limits *limits, const char *why, struct division *d)
{
    const bool fill = controller_fills(whole);
    const uint64_t run = whole->box.run, dst = (uint64_t)(uintptr_t)whole->box.dst;
    const uint64_t head = (0 - dst) & (limits->alignment - 1);
    uint64_t middle = 0;

    *d = (struct division){.why = refuses_box(profile, &whole->box, fill)};
    if (!d->why && fill)
        d->why = why;
    if (!d->why) {
        middle = head < run ? (run - head) & ~(uint64_t)(limits->granularity - 1) : 0;
        if (middle == 0)
            d->why = too_short;
        else if (!splits_runs(limits, middle))
            d->why = run_limit;
    }
    if (d->why) {
        give_to_core(d, whole, fill, 0, run);
        return;
    }
    d->why = head_or_tail;
    give_to_core(d, whole, fill, 0, head);
    give_to_core(d, whole, fill, head + middle, run);
    d->controlled = true;
    d->rest = *whole;
    d->rest.box.run = middle;
    d->rest.box.dst = (uint8_t *)(uintptr_t)(dst + head);
    if (!fill)
        d->rest.box.src = (const uint8_t *)((uintptr_t)whole->box.src + (uintptr_t)head);
    d->rest.bytes = whole->bytes / run * middle;
}

void list_init(struct descriptor_list *list, const struct target_profile *profile,
               const struct mli_plan *plan, uint64_t address, uint64_t zeros)
{
    *list = (struct descriptor_list){.profile = profile,
                                     .controller = controller_of(profile),
                                     .plan = plan,
                                     .address = address,
                                     .zeros = zeros};
}

/* Begins the next descriptor of the plan; false after the last one. */
static bool begin(struct descriptor_list *list)
{
    struct mli_descriptor whole;
    struct cut_limits limits;
    struct division d;

    while (list->index <= list->plan->slabs) {
        if (!take_whole(list->plan, list->index++, &whole))
            continue;
        limits = limits_of(list->profile, list->controller, controller_fills(&whole));
        divide(list->profile, &whole, &limits,
               writes_zeros(list->profile, list->controller)
                   ? NULL
                   : refuses_zeros(list->profile, list->zeros),
               &d);
        list->why = d.why;
        list->core_next = 0;
        list->core_count = d.count;
        list->core[0] = d.core[0];
        list->core[1] = d.core[1];
        list->cutting = d.controlled;
        if (d.controlled)
            cutter_init(&list->cutter, &d.rest, !controller_fills(&whole), &limits);
        return true;
    }
    return false;
}

/* Sets *entry to the next entry, without a descriptor; false at the end. */
static bool next_piece(struct descriptor_list *list, struct list_entry *entry)
{
    const struct controller *controller = list->controller;

    do {
        if (list->core_next < list->core_count) {
            entry->mover = MOVER_CORE;
            entry->why = list->why;
            entry->piece = list->core[list->core_next++];
            return true;
        }
        if (list->cutting && cutter_next(&list->cutter, &entry->piece)) {
            entry->why = controller && controller->refuses
                             ? controller->refuses(list->profile, &entry->piece)
                             : NULL;
            entry->mover = entry->why ? MOVER_CORE : MOVER_CONTROLLER;
            return true;
        }
    } while (begin(list));
    return false;
}

/* Returns whether the controller moves any of the entries that next_piece() will make. */
static bool has_more(const struct descriptor_list *list)
{
    struct descriptor_list ahead = *list;
    struct list_entry entry;

    while (next_piece(&ahead, &entry))
        if (entry.mover == MOVER_CONTROLLER)
            return true;
    return false;
}

static uint64_t aligned(uint64_t address, uint32_t alignment)
{
    return alignment > 1 ? (address + alignment - 1) / alignment * alignment : address;
}

static size_t size_of(const struct descriptor_list *list, const struct mli_descriptor *piece)
{
    const struct controller *controller = list->controller;

    return controller->descriptor_bytes > 0 ? controller->descriptor_bytes
                                            : controller->size(list->profile, piece);
}

/* Encodes the piece of an entry, and sets list->address to the end of its descriptor. */
static void encode(struct descriptor_list *list, struct list_entry *entry)
{
    const struct controller *controller = list->controller;
    struct controller_place place = {.profile = list->profile, .zeros = list->zeros};
    uint64_t next;

    place.address = aligned(list->address, controller->descriptor_alignment);
    next = aligned(place.address + size_of(list, &entry->piece), controller->descriptor_alignment);
    place.next = has_more(list) ? next : 0;
    entry->descriptor.address = place.address;
    entry->descriptor.field_count = 0;
    entry->descriptor.size = 0;
    controller->encode(&place, &entry->piece, &entry->descriptor);
    list->address = next;
}

bool list_next(struct descriptor_list *list, struct list_entry *entry)
{
    if (!next_piece(list, entry))
        return false;
    if (entry->mover == MOVER_CONTROLLER && list->controller)
        encode(list, entry);
    return true;
}

/* Makes all pieces, to count those that the controller refuses. */
static void count_refused(const struct target_profile *profile, const struct controller *controller,
                          struct box_cutter *cutter, struct list_count *count)
{
    struct mli_descriptor piece;
    uint64_t refused = 0;

    while (cutter_next(cutter, &piece)) {
        if (!controller->refuses(profile, &piece))
            continue;
        refused++;
        count->core_bytes += piece.bytes;
    }
    count->core += refused;
    count->descriptors -= refused;
    /* `least` bounds the refused pieces and all other entries together. */
    count->least -= refused < count->least ? refused : count->least;
}

struct list_count list_count(const struct target_profile *profile, const struct mli_plan *plan)
{
    const struct controller *controller = controller_of(profile);
    struct list_count count = {0};

    for (uint32_t index = 0; index <= plan->slabs; index++) {
        const struct cut_limits limits = limits_of(profile, controller, index > 0);
        struct mli_descriptor whole;
        struct box_cutter cutter;
        struct list_count own = {0};
        struct division d;

        if (!take_whole(plan, index, &whole))
            continue;
        divide(profile, &whole, &limits, NULL, &d);
        for (uint32_t i = 0; i < d.count; i++, own.core++)
            own.core_bytes += d.core[i].bytes;
        if (d.controlled) {
            cutter_init(&cutter, &d.rest, index == 0, &limits);
            own.descriptors = cutter_count(&cutter);
            own.least = cutter_least(&cutter);
            if (controller && controller->refuses)
                count_refused(profile, controller, &cutter, &own);
        }
        count.descriptors += own.descriptors;
        if (index > 0 && profile->dma.fills && !(controller && controller->reads_zeros))
            count.fills += own.descriptors;
        count.core += own.core;
        count.core_bytes += own.core_bytes;
        count.least += own.least;
    }
    return count;
}

uint64_t list_end(const struct descriptor_list *list)
{
    struct descriptor_list ahead = *list;
    const struct controller *controller = list->controller;
    struct list_entry entry;
    uint64_t made = 0, count;

    if (!controller)
        return list->address;
    for (uint64_t walked = 0; walked < LIST_WALKED; walked++) {
        if (!next_piece(&ahead, &entry))
            return ahead.address;
        if (entry.mover == MOVER_CORE)
            continue;
        ahead.address =
            aligned(ahead.address, controller->descriptor_alignment) + size_of(list, &entry.piece);
        made++;
    }
    count = list_count(list->profile, list->plan).descriptors;
    count = count > made ? count - made : 0;
    return ahead.address +
           count * (CONTROLLER_BYTES_MAX + (uint64_t)controller->descriptor_alignment);
}
