/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/explain/picture_colour.h"

enum {
    HUES = 8,
    UNIT = 1000,    /* from one hue to the next, and from one end of a scale to the other */
    TINT_MAX = 620, /* of white, of UNIT */
    SHADE_MAX = 400 /* of the dark, of UNIT */
};

static const struct picture_colour hues[HUES] = {
    {0x1f, 0x5f, 0xc4}, {0x12, 0x93, 0xb8}, {0x1f, 0x9e, 0x6e}, {0x8a, 0xae, 0x1f},
    {0xe8, 0xa5, 0x1a}, {0xe0, 0x5f, 0x2b}, {0xc8, 0x35, 0x78}, {0x7b, 0x45, 0xc6},
};
static const struct picture_colour white = {255, 255, 255}, dark = {0x14, 0x1c, 0x2e};

static uint8_t mix_part(uint8_t a, uint8_t b, uint32_t of_b)
{
    return (uint8_t)((a * (UNIT - of_b) + b * of_b + UNIT / 2) / UNIT);
}

static struct picture_colour mix(struct picture_colour a, struct picture_colour b, uint32_t of_b)
{
    return (struct picture_colour){mix_part(a.red, b.red, of_b), mix_part(a.green, b.green, of_b),
                                   mix_part(a.blue, b.blue, of_b)};
}

/* Two or three samples do not need, and should not get, hues that are neighbours on a circle. */
static uint32_t hue_range(size_t samples)
{
    return (uint32_t)(samples < HUES - 4 ? samples + 3 : HUES - 1) * UNIT;
}

/* The colour by the first `followed` of the picture's followed dimensions. */
static struct picture_colour colour_of(const struct picture *picture, const uint64_t *sample,
                                       uint32_t followed)
{
    uint32_t part[MLI_MAX_RANK] = {0};
    uint32_t hue = 0;
    for (uint32_t i = 0; i < followed; i++) {
        uint32_t d = picture->followed[i];
        part[i] = picture_position(picture, d, sample[d], UNIT);
    }
    if (picture->followed_count > 0) {
        size_t count = picture->scale[picture->followed[0]].count;
        uint32_t range = hue_range(count);
        hue = part[0] * (range / UNIT);
        if (count > 1)
            hue += part[3] * (range / (uint32_t)(count - 1)) / (2 * UNIT);
    }
    if (hue > (HUES - 1) * UNIT)
        hue = (HUES - 1) * UNIT;
    uint32_t from = hue / UNIT, to = from + 1 < HUES ? from + 1 : from;
    struct picture_colour colour = mix(hues[from], hues[to], hue % UNIT);
    colour = mix(colour, white, part[1] * TINT_MAX / UNIT);
    return mix(colour, dark, part[2] * SHADE_MAX / UNIT);
}

struct picture_colour picture_colour(const struct picture *picture, const uint64_t *sample)
{
    return colour_of(picture, sample, picture->followed_count);
}

/* The nearest of the six levels that each part of a palette colour has. */
static unsigned level_of_part(uint8_t part)
{
    return part < 48 ? 0 : part < 115 ? 1 : (part - 35U) / 40;
}

unsigned picture_colour_palette(const struct picture *picture, const uint64_t *sample)
{
    struct picture_colour colour = colour_of(picture, sample, picture->followed_count > 0);
    return 16 + 36 * level_of_part(colour.red) + 6 * level_of_part(colour.green) +
           level_of_part(colour.blue);
}

bool picture_colour_is_dark(struct picture_colour colour)
{
    return colour.red * 299 + colour.green * 587 + colour.blue * 114 < 140 * 1000;
}
