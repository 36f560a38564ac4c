/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/explain/hand.h"

/* Returns how many samples of the window have a padded coordinate below `at`. */
static uint64_t samples_before(const mli_explained_axis *a, uint64_t at)
{
    uint64_t count = at <= a->offset ? 0 : (at - a->offset + a->step - 1) / a->step;
    return count < a->count ? count : a->count;
}

static void explain_axis(const struct hand *hand, uint32_t d, mli_explained_axis *a)
{
    a->extent = hand->shape[d];
    a->pad_pre = hand->pre[d];
    a->pad_post = hand->post[d];
    a->padded = (uint64_t)a->extent + a->pad_pre + a->pad_post;
    a->offset = hand->offset[d];
    a->size = hand->size[d] ? hand->size[d] : a->padded - a->offset;
    a->step = hand->step[d] ? hand->step[d] : 1;
    a->count = (a->size + a->step - 1) / a->step;
    a->lo = samples_before(a, a->pad_pre);
    a->hi = samples_before(a, (uint64_t)a->pad_pre + a->extent);
    if (a->lo < a->hi)
        a->first = a->offset + a->lo * a->step - a->pad_pre;
}

static uint32_t from(const struct hand *hand, uint32_t to)
{
    bool given = false;
    for (uint32_t d = 0; d < hand->rank; d++)
        given = given || hand->perm[d] > 0;
    return given ? hand->perm[to] : to;
}

static void place(const struct hand *hand, struct explained *e)
{
    uint64_t packed = 1;
    for (uint32_t i = hand->rank; i-- > 0;) {
        mli_explained_axis *a = &e->move.axis[from(hand, i)];
        a->dst_dim = i;
        a->dst_offset = hand->at[i];
        e->move.dst_shape[i] = (uint32_t)(a->count + hand->at[i]);
        e->dst.shape[i] = e->update ? hand->whole[i] : e->move.dst_shape[i];
        a->dst_stride = hand->stride[i] ? hand->stride[i] : packed;
        e->dst.strides[i] = (int32_t)a->dst_stride;
        packed = a->dst_stride * e->dst.shape[i];
    }
    e->dst.rank = hand->rank;
    e->dst.bytes = packed * hand->elem;
}

static void plan(const struct hand *hand, mli_explanation *move)
{
    struct mli_copy_box *box = &move->plan.box;
    move->plan.bytes = move->samples * move->elem;
    box->run = move->samples_read > 0 ? move->elem : 0;
    for (uint32_t i = 0; i < hand->rank; i++) {
        const mli_explained_axis *a = &move->axis[from(hand, i)];
        if (a->lo > 0)
            move->plan.slabs++;
        if (a->hi < a->count)
            move->plan.slabs++;
        if (a->hi - a->lo > 1)
            box->loop[box->loops++] = (struct mli_copy_loop){
                a->hi - a->lo, a->src_stride * a->step * move->elem, a->dst_stride * move->elem};
    }
}

void hand_explain(const struct hand *hand, struct explained *explained)
{
    struct explained *e = explained;
    uint64_t stride = 1;
    *e = (struct explained){.file = "job.json",
                            .pointer = "",
                            .name = hand->name,
                            .op = hand->op ? hand->op : "mov",
                            .type = hand->type ? hand->type : "fx8",
                            .update = hand->whole[0] > 0};
    e->move.rank = e->src.rank = hand->rank;
    e->move.elem = hand->elem;
    e->move.samples = e->move.samples_read = 1;
    for (uint32_t d = hand->rank; d-- > 0;) {
        mli_explained_axis *a = &e->move.axis[d];
        explain_axis(hand, d, a);
        a->src_stride = stride;
        stride *= a->extent;
        e->src.shape[d] = a->extent;
        e->src.strides[d] = (int32_t)a->src_stride;
        e->move.samples *= a->count;
        e->move.samples_read *= a->hi - a->lo;
    }
    e->src.file = "in.npy";
    e->dst.file = "out.npy";
    e->src.bytes = stride * hand->elem;
    e->src.quant_axis = e->dst.quant_axis = hand->axis - 1;
    place(hand, e);
    if (hand->axis)
        e->dst.quant_axis = (int32_t)e->move.axis[hand->axis - 1].dst_dim;
    plan(hand, &e->move);
}

static uint32_t few(struct rng *rng, uint32_t most)
{
    return rng_chance(rng, 50) ? 0 : rng_between(rng, 0, most);
}

static void random_axis(struct rng *rng, uint32_t most, uint32_t d, struct hand *hand)
{
    hand->shape[d] = rng_between(rng, 1, most);
    hand->pre[d] = few(rng, 3);
    hand->post[d] = few(rng, 3);
    uint32_t padded = hand->shape[d] + hand->pre[d] + hand->post[d];
    hand->offset[d] = rng_chance(rng, 50) ? 0 : rng_below(rng, padded);
    hand->size[d] = rng_chance(rng, 40) ? 0 : rng_between(rng, 1, padded - hand->offset[d]);
    hand->step[d] = rng_chance(rng, 60) ? 1 : rng_between(rng, 1, padded);
}

static uint32_t count_of(const struct hand *hand, uint32_t d)
{
    uint32_t padded = hand->shape[d] + hand->pre[d] + hand->post[d];
    uint32_t size = hand->size[d] ? hand->size[d] : padded - hand->offset[d];
    return (size + hand->step[d] - 1) / hand->step[d];
}

static void random_perm(struct rng *rng, struct hand *hand)
{
    for (uint32_t i = 0; i < hand->rank; i++)
        hand->perm[i] = i;
    for (uint32_t i = hand->rank; rng_chance(rng, 70) && i-- > 1;) {
        uint32_t other = rng_below(rng, i + 1), kept = hand->perm[i];
        hand->perm[i] = hand->perm[other];
        hand->perm[other] = kept;
    }
}

static void random_place(struct rng *rng, struct hand *hand)
{
    bool update = rng_chance(rng, 40), gaps = rng_chance(rng, 40);
    uint64_t stride = 1;
    for (uint32_t i = hand->rank; i-- > 0;) {
        uint32_t end = count_of(hand, hand->perm[i]);
        hand->at[i] = few(rng, 3);
        end += hand->at[i];
        hand->whole[i] = update ? end + few(rng, 3) : 0;
        if (gaps)
            hand->stride[i] = stride;
        stride *= (update ? hand->whole[i] : end) + (gaps ? few(rng, 3) : 0);
    }
}

void hand_random(struct rng *rng, uint32_t most, struct hand *hand)
{
    *hand = (struct hand){.rank = rng_between(rng, 1, 4), .elem = 1};
    for (uint32_t d = 0; d < hand->rank; d++)
        random_axis(rng, most, d, hand);
    random_perm(rng, hand);
    random_place(rng, hand);
    hand->axis = (int)rng_below(rng, hand->rank + 1);
}
