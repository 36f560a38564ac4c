/* SPDX-License-Identifier: BSD-3-Clause */
/* Peer OpenCV: transpose, split, merge, copyMakeBorder, copyTo. */
#include <climits>
#include <new>
#include <opencv2/core.hpp>

#include "bench/moves/bench_peer.h"
#include "bench/moves/planes.h"

namespace
{

enum { INTERLEAVED = 4 }; /* most channels that OpenCV splits and merges with vector code */

enum how { TRANSPOSE, SPLIT, MERGE, COPY, BORDER };

struct opencv {
    how does;
    planes all;
    /* For BORDER: consecutive matrices of H x W pixels of `channels` elements. */
    int channels, h, w, top, bottom, left, right;
    size_t count, src_next, dst_next, src_pitch, dst_pitch;
    const uint8_t *src;
    uint8_t *dst;
};

int depth(uint32_t elem)
{
    return elem == 1 ? CV_8U : elem == 2 ? CV_16U : CV_32S;
}

cv::Mat matrix(const uint8_t *at, size_t rows, size_t columns, int type, size_t pitch)
{
    return cv::Mat((int)rows, (int)columns, type, const_cast<uint8_t *>(at), pitch);
}

const char *opencv_open(void)
{
    cv::setNumThreads(1);
    return CV_VERSION;
}

how choose(const planes *p)
{
    if (!p->transposed)
        return COPY;
    if (p->rows <= INTERLEAVED && p->from == (int64_t)p->rows)
        return SPLIT;
    if (p->columns <= INTERLEAVED && p->to == (int64_t)p->columns)
        return MERGE;
    return TRANSPOSE;
}

/* Returns whether the job only pads the last two dimensions, or the first two of three. */
bool border_init(opencv *o, const job *j)
{
    const bool hwc = j->rank == 3 && j->axis[2].inside == j->axis[2].count && j->axis[2].to == 1;

    if (j->rank != 3 || (!hwc && j->axis[0].inside != j->axis[0].count))
        return false;
    const axis *h = &j->axis[hwc ? 0 : 1], *w = &j->axis[hwc ? 1 : 2], *c = &j->axis[hwc ? 2 : 0];

    for (int i = 0; i < 3; i++) {
        if (j->axis[i].step != 1 || j->perm[i] != i)
            return false;
    }
    o->channels = hwc ? (int)c->count : 1;
    if (o->channels > CV_CN_MAX || w->from != o->channels || w->to != o->channels)
        return false;
    o->does = BORDER;
    o->h = (int)h->inside;
    o->w = (int)w->inside;
    o->top = (int)h->inside_at;
    o->bottom = (int)(h->count - h->inside - h->inside_at);
    o->left = (int)w->inside_at;
    o->right = (int)(w->count - w->inside - w->inside_at);
    o->count = hwc ? 1 : c->count;
    o->src_next = hwc ? 0 : (size_t)c->from * j->elem;
    o->dst_next = hwc ? 0 : (size_t)c->to * j->elem;
    o->src_pitch = (size_t)h->from * j->elem;
    o->dst_pitch = (size_t)h->to * j->elem;
    o->src = j->src;
    o->dst = j->dst;
    return true;
}

void *opencv_prepare(const job *j)
{
    opencv *o = new (std::nothrow) opencv();

    if (!o)
        return nullptr;
    o->all.elem = j->elem;
    if (j->padded && border_init(o, j))
        return o;
    if (planes_init(&o->all, j) && o->all.rows <= INT_MAX && o->all.columns <= INT_MAX) {
        o->does = choose(&o->all);
        return o;
    }
    delete o;
    return nullptr;
}

void split_plane(const planes *p, const uint8_t *src, uint8_t *dst)
{
    cv::Mat to[INTERLEAVED];
    const int type = depth(p->elem);

    for (size_t r = 0; r < p->rows; r++)
        to[r] = matrix(dst + r * p->to * p->elem, 1, p->columns, type, cv::Mat::AUTO_STEP);
    cv::split(matrix(src, 1, p->columns, CV_MAKETYPE(type, (int)p->rows), cv::Mat::AUTO_STEP), to);
}

void merge_plane(const planes *p, const uint8_t *src, uint8_t *dst)
{
    cv::Mat from[INTERLEAVED];
    const int type = depth(p->elem);
    cv::Mat to = matrix(dst, 1, p->rows, CV_MAKETYPE(type, (int)p->columns), cv::Mat::AUTO_STEP);

    for (size_t c = 0; c < p->columns; c++)
        from[c] = matrix(src + c * p->from * p->elem, 1, p->rows, type, cv::Mat::AUTO_STEP);
    cv::merge(from, p->columns, to);
}

void one_plane(const opencv *o, const uint8_t *src, uint8_t *dst)
{
    const planes *p = &o->all;
    const int type = depth(p->elem);
    const size_t from = (size_t)p->from * p->elem, to = (size_t)p->to * p->elem;

    if (o->does == SPLIT) {
        split_plane(p, src, dst);
    } else if (o->does == MERGE) {
        merge_plane(p, src, dst);
    } else if (o->does == TRANSPOSE) {
        cv::Mat result = matrix(dst, p->rows, p->columns, type, to);

        cv::transpose(matrix(src, p->columns, p->rows, type, from), result);
    } else {
        cv::Mat result = matrix(dst, p->rows, p->columns, type, to);

        matrix(src, p->rows, p->columns, type, from).copyTo(result);
    }
}

void add_borders(const opencv *o)
{
    const int type = CV_MAKETYPE(depth(o->all.elem), o->channels);

    for (size_t i = 0; i < o->count; i++) {
        cv::Mat to = matrix(o->dst + i * o->dst_next, (size_t)(o->h + o->top + o->bottom),
                            (size_t)(o->w + o->left + o->right), type, o->dst_pitch);

        cv::copyMakeBorder(
            matrix(o->src + i * o->src_next, (size_t)o->h, (size_t)o->w, type, o->src_pitch), to,
            o->top, o->bottom, o->left, o->right, cv::BORDER_CONSTANT | cv::BORDER_ISOLATED);
    }
}

int opencv_run(void *state)
{
    const opencv *o = static_cast<const opencv *>(state);
    const planes *p = &o->all;

    try {
        if (o->does == BORDER) {
            add_borders(o);
            return 0;
        }
        planes_clear(p);
        for (size_t i = 0; i < p->outer[0]; i++) {
            for (size_t k = 0; k < p->outer[1]; k++)
                one_plane(o, planes_src(p, i, k), planes_dst(p, i, k));
        }
        return 0;
    } catch (...) {
        return -1;
    }
}

void opencv_release(void *state)
{
    delete static_cast<opencv *>(state);
}

} // namespace

extern "C" const struct peer peer_opencv = {"OpenCV", opencv_open, opencv_prepare, opencv_run,
                                            opencv_release};
