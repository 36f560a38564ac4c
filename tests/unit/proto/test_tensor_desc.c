/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/wire/tensor_desc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/file/job_file.h"
#include "tests/support/proto_unit.h"

/* Parses `text` and reads it into *desc, which must be valid already. */
static int read_desc(const char *text, struct tensor_desc *desc, struct fault *fault)
{
    struct json root;
    int status;

    assert_no_fault(json_parse(text, strlen(text), &job_file_limits, &root, fault), fault);
    status = tensor_desc_read(desc, &root);
    json_free(&root);
    return status;
}

static void test_type_names(void **state)
{
    static const char *const names[] = {"fx8", "fx16", "sa8", "sa32", "fp16", "fp32"};
    static const mli_element_type types[] = {MLI_EL_FX_8,  MLI_EL_FX_16, MLI_EL_SA_8,
                                             MLI_EL_SA_32, MLI_EL_FP_16, MLI_EL_FP_32};
    mli_element_type type;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        assert_true(element_type_from_name(names[i], &type));
        assert_int_equal(type, types[i]);
        assert_string_equal(element_type_name(type), names[i]);
    }
    assert_null(element_type_name(MLI_EL_FX_4));
    assert_null(element_type_name((mli_element_type)0));
    assert_false(element_type_from_name("FX8", &type));
    assert_false(element_type_from_name("", &type));
}

static void test_empty(void **state)
{
    struct tensor_desc desc = {0};
    struct fault fault;

    (void)state;
    assert_no_fault(read_desc("{}", &desc, &fault), &fault);
    assert_false(desc.has_type || desc.rank || desc.has_strides || desc.quant.count ||
                 desc.quant.has_frac_bits);
    tensor_desc_finish(&desc);
}

static void test_plain(void **state)
{
    struct tensor_desc desc = {0};
    struct fault fault;

    (void)state;
    assert_no_fault(read_desc("{\"type\":\"fx16\",\"shape\":[4294967295,1],"
                              "\"strides\":[2147483647,0],\"frac_bits\":-128}",
                              &desc, &fault),
                    &fault);
    assert_int_equal(desc.type, MLI_EL_FX_16);
    assert_int_equal(desc.rank, 2);
    assert_int_equal(desc.shape[0], UINT32_MAX);
    assert_int_equal(desc.shape[1], 1);
    assert_int_equal(desc.stride_count, 2);
    assert_int_equal(desc.strides[0], INT32_MAX);
    assert_int_equal(desc.quant.frac_bits, -128);
    /* Reading a second text keeps the members that this text does not have. */
    assert_no_fault(read_desc("{\"frac_bits\":127}", &desc, &fault), &fault);
    assert_int_equal(desc.rank, 2);
    assert_int_equal(desc.quant.frac_bits, 127);
    tensor_desc_finish(&desc);
}

static void test_per_tensor(void **state)
{
    struct tensor_desc desc = {0};
    struct fault fault;

    (void)state;
    assert_no_fault(read_desc("{\"type\":\"sa8\",\"zero_point\":-32768}", &desc, &fault), &fault);
    assert_int_equal(desc.quant.axis, -1);
    assert_int_equal(desc.quant.count, 1);
    assert_int_equal(desc.quant.scale[0], 1);
    assert_int_equal(desc.quant.zero_point[0], -32768);
    assert_int_equal(desc.quant.scale_frac_bits[0], 0);
    assert_no_fault(read_desc("{\"scale\":32767,\"scale_frac_bits\":-128}", &desc, &fault), &fault);
    assert_int_equal(desc.quant.scale[0], 32767);
    assert_int_equal(desc.quant.zero_point[0], 0); /* if one parameter is given, all are replaced */
    assert_int_equal(desc.quant.scale_frac_bits[0], -128);
    tensor_desc_finish(&desc);
}

static void test_per_axis(void **state)
{
    struct tensor_desc desc = {0};
    struct fault fault;

    (void)state;
    assert_no_fault(read_desc("{\"type\":\"sa32\",\"shape\":[2,3],\"axis\":1,\"scale\":[5,6,7],"
                              "\"zero_point\":-1,\"scale_frac_bits\":[1,2,3]}",
                              &desc, &fault),
                    &fault);
    assert_int_equal(desc.quant.axis, 1);
    assert_int_equal(desc.quant.count, 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(desc.quant.scale[i], 5 + i);
        assert_int_equal(desc.quant.zero_point[i], -1);
        assert_int_equal(desc.quant.scale_frac_bits[i], 1 + i);
    }
    tensor_desc_finish(&desc);
}

static void test_bad(void **state)
{
#define COUNTS "1 to 4 are allowed"
    static const struct bad cases[] = {
        {"{\"type\":\"f32\"}", "/type", "type: \"f32\" is unknown; did you mean \"fp32\"?"},
        {"{\"type\":\"int8\"}", "/type",
         "type: \"int8\" is unknown; known: fx8, fx16, sa8, sa32, fp16, fp32"},
        {"{\"type\":8}", "/type", "type: a string is required, not a number"},
        {"{\"type\":\"\"}", "/type", "type: must not be empty"},
        {"{\"shape\":3}", "/shape", "shape: an array is required, not a number"},
        {"{\"shape\":[]}", "/shape", "shape: 0 entries given; " COUNTS},
        {"{\"shape\":[1,2,3,4,5]}", "/shape", "shape: 5 entries given; " COUNTS},
        {"{\"shape\":[1,0]}", "/shape/1", "shape[1]: 0 given; must be 1 to 4294967295"},
        {"{\"shape\":[-1]}", "/shape/0", "shape[0]: -1 given; must be 1 to 4294967295"},
        {"{\"shape\":[4294967296]}", "/shape/0",
         "shape[0]: 4294967296 given; must be 1 to 4294967295"},
        {"{\"shape\":[\"1\"]}", "/shape/0", "shape[0]: a whole number is required, not a string"},
        {"{\"strides\":[-1]}", "/strides/0", "strides[0]: -1 given; must be 0 to 2147483647"},
        {"{\"strides\":[2147483648]}", "/strides/0",
         "strides[0]: 2147483648 given; must be 0 to 2147483647"},
        {"{\"shape\":[1,2],\"strides\":[1]}", "/strides",
         "strides: 1 entries given, but the shape has 2"},
        {"{\"scale\":32768}", "/scale", "scale: 32768 given; must be -32768 to 32767"},
        {"{\"zero_point\":-32769}", "/zero_point",
         "zero_point: -32769 given; must be -32768 to 32767"},
        {"{\"scale_frac_bits\":128}", "/scale_frac_bits",
         "scale_frac_bits: 128 given; must be -128 to 127"},
        {"{\"scale\":\"1\"}", "/scale",
         "scale: a whole number or an array of whole numbers is required"},
        {"{\"scale\":[1]}", "/scale", "scale: an array requires \"axis\""},
        {"{\"axis\":0,\"scale\":[]}", "/scale", "scale: 0 entries given; 1 to 1048576 are allowed"},
        {"{\"axis\":0,\"scale\":[1,32768]}", "/scale/1",
         "scale[1]: 32768 given; must be -32768 to 32767"},
        {"{\"axis\":0,\"scale\":[1,null]}", "/scale/1",
         "scale[1]: a whole number is required, not null"},
        {"{\"axis\":0,\"scale_frac_bits\":[-129]}", "/scale_frac_bits/0",
         "scale_frac_bits[0]: -129 given; must be -128 to 127"},
        {"{\"axis\":0}", "/axis",
         "axis: requires an array as scale, zero_point or scale_frac_bits"},
        {"{\"axis\":0,\"scale\":1}", "/axis",
         "axis: requires an array as scale, zero_point or scale_frac_bits"},
        {"{\"axis\":4,\"scale\":[1]}", "/axis", "axis: 4 given; must be 0 to 3"},
        {"{\"axis\":-1,\"scale\":[1]}", "/axis", "axis: -1 given; must be 0 to 3"},
        {"{\"axis\":0,\"scale\":[1,2],\"zero_point\":[1]}", "/zero_point",
         "zero_point: 1 entries given, but \"scale\" has 2"},
        {"{\"axis\":0,\"scale\":1,\"zero_point\":[1],\"scale_frac_bits\":[1,2]}",
         "/scale_frac_bits", "scale_frac_bits: 2 entries given, but \"zero_point\" has 1"},
        {"{\"axis\":2,\"scale\":[1],\"shape\":[1,2]}", "/axis",
         "axis: 2 given, but the shape has 2 dimensions (0 to 1)"},
        {"{\"axis\":1,\"scale\":[1],\"shape\":[1,2]}", "/axis",
         "axis: 1 entries given along dimension 1, but shape[1] is 2"},
        {"{\"type\":\"fx8\",\"scale\":1}", "/scale",
         "scale: only sa8 and sa32 have these parameters, not fx8"},
        {"{\"type\":\"fp32\",\"axis\":0,\"zero_point\":[1]}", "/axis",
         "axis: only sa8 and sa32 have these parameters, not fp32"},
        {"{\"type\":\"sa8\",\"frac_bits\":1}", "/frac_bits",
         "frac_bits: only fx8 and fx16 have this parameter, not sa8"},
        {"{\"type\":\"fp16\",\"frac_bits\":1}", "/frac_bits",
         "frac_bits: only fx8 and fx16 have this parameter, not fp16"},
        {"{\"frac_bits\":1,\"scale\":1}", "/frac_bits",
         "frac_bits: for fx types, cannot be combined with scale, zero_point, scale_frac_bits"},
        {"{\"frac_bits\":128}", "/frac_bits", "frac_bits: 128 given; must be -128 to 127"},
        {"{\"frac_bits\":[1]}", "/frac_bits",
         "frac_bits: a whole number is required, not an array"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct tensor_desc desc = {0};
        struct fault fault = {0};

        assert_int_equal(read_desc(cases[i].input, &desc, &fault), -1);
        assert_fault(&fault, FAULT_INVALID_PARAMS, cases[i].pointer, cases[i].text, cases[i].input);
        tensor_desc_finish(&desc);
    }
}

/* tensor_desc_check_members() accepts members whose only fault is that they contradict each other.
 */
static void test_check_members(void **state)
{
    static const struct bad cases[] = {
        {"{\"axis\":4}", "/axis", "axis: 4 given; must be 0 to 3"},
        {"{\"scale\":[1,99999]}", "/scale/1", "scale[1]: 99999 given; must be -32768 to 32767"},
        {"{\"type\":\"\"}", "/type", "type: must not be empty"},
        {"{\"shape\":[0]}", "/shape/0", "shape[0]: 0 given; must be 1 to 4294967295"},
        {"{\"strides\":[]}", "/strides", "strides: 0 entries given; 1 to 8 are allowed"},
    };
    static const char good[] = "{\"axis\":1,\"zero_point\":[1,2],\"scale\":[1,2,3],"
                               "\"frac_bits\":1,\"type\":\"fp16\",\"strides\":[1,2]}";
    struct fault fault;
    struct json root;

    (void)state;
    json_parse(good, strlen(good), &job_file_limits, &root, &fault);
    assert_no_fault(tensor_desc_check_members(&root), &fault);
    json_free(&root);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        json_parse(cases[i].input, strlen(cases[i].input), &job_file_limits, &root, &fault);
        assert_int_equal(tensor_desc_check_members(&root), -1);
        assert_fault(&fault, FAULT_INVALID_PARAMS, cases[i].pointer, cases[i].text, cases[i].input);
        json_free(&root);
    }
}

/* Checks the shape of a .npy file against the members of the job. */
static void test_completed_later(void **state)
{
    struct tensor_desc desc = {0};
    struct fault fault;

    (void)state;
    assert_no_fault(read_desc("{\"axis\":1,\"scale\":[1,2,3]}", &desc, &fault), &fault);
    assert_no_fault(tensor_desc_check(&desc, &fault), &fault);
    desc.rank = 2;
    desc.shape[0] = 7;
    desc.shape[1] = 3;
    assert_no_fault(tensor_desc_check(&desc, &fault), &fault);
    desc.shape[1] = 4;
    assert_int_equal(tensor_desc_check(&desc, &fault), -1);
    assert_fault(&fault, FAULT_INVALID_PARAMS, "/axis",
                 "axis: 3 entries given along dimension 1, but shape[1] is 4", "shape");
    desc.shape[1] = 3;
    desc.has_type = true;
    desc.type = MLI_EL_FX_8;
    assert_int_equal(tensor_desc_check(&desc, &fault), -1);
    assert_fault(&fault, FAULT_INVALID_PARAMS, "/axis",
                 "axis: only sa8 and sa32 have these parameters, not fx8", "type");
    tensor_desc_finish(&desc);
}

static void test_copy(void **state)
{
    struct tensor_desc desc = {0}, copy;
    struct fault fault;

    (void)state;
    assert_int_equal(tensor_desc_copy(&copy, &desc), 0);
    assert_null(copy.quant.scale);
    assert_no_fault(read_desc("{\"shape\":[2],\"axis\":0,\"scale\":[3,4],\"zero_point\":[5,6],"
                              "\"scale_frac_bits\":[7,8]}",
                              &desc, &fault),
                    &fault);
    assert_int_equal(tensor_desc_copy(&copy, &desc), 0);
    tensor_desc_finish(&desc);
    assert_int_equal(copy.quant.count, 2);
    assert_int_equal(copy.quant.scale[1], 4);
    assert_int_equal(copy.quant.zero_point[1], 6);
    assert_int_equal(copy.quant.scale_frac_bits[1], 8);
    assert_int_equal(copy.shape[0], 2);
    tensor_desc_finish(&copy);
    tensor_desc_finish(&copy);
}

static void test_alloc(void **state)
{
    struct quant quant = {.axis = 2};

    (void)state;
    assert_int_equal(quant_alloc(&quant, 5), 0);
    assert_int_equal(quant_alloc(&quant, 3), 0);
    assert_int_equal(quant.count, 3);
    assert_int_equal(quant.axis, 2);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(quant.scale[i], 1);
        assert_int_equal(quant.zero_point[i], 0);
        assert_int_equal(quant.scale_frac_bits[i], 0);
    }
    assert_int_equal(quant_alloc(&quant, 0), 0);
    assert_int_equal(quant.count, 0);
    assert_null(quant.scale);
}

static void test_round_trip(void **state)
{
    static const char *const texts[] = {
        "{}",
        "{\"type\":\"fp32\",\"shape\":[1,2,3,4]}",
        "{\"type\":\"fx8\",\"shape\":[9],\"strides\":[3],\"frac_bits\":-7}",
        "{\"strides\":[3,0,1]}",
        "{\"type\":\"sa8\",\"scale\":-5,\"zero_point\":6,\"scale_frac_bits\":7}",
        ("{\"shape\":[2,3],\"axis\":1,\"scale\":[1,2,3],\"zero_point\":[-1,0,1],"
         "\"scale_frac_bits\":[-128,0,127]}"),
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct tensor_desc desc = {0};
        struct fault fault;
        struct jsonw w;

        assert_no_fault(read_desc(texts[i], &desc, &fault), &fault);
        jsonw_init(&w);
        jsonw_object_begin(&w, NULL);
        tensor_desc_write(&w, &desc);
        jsonw_object_end(&w);
        assert_string_equal(jsonw_text(&w), texts[i]);
        jsonw_finish(&w);
        tensor_desc_finish(&desc);
    }
}

/* A program may set strides and leave stride_count at 0. */
static void test_write_uncounted_strides(void **state)
{
    struct tensor_desc desc = {.rank = 2, .shape = {2, 3}, .has_strides = true, .strides = {8, 1}};
    struct jsonw w;

    (void)state;
    jsonw_init(&w);
    jsonw_object_begin(&w, NULL);
    tensor_desc_write(&w, &desc);
    jsonw_object_end(&w);
    assert_string_equal(jsonw_text(&w), "{\"shape\":[2,3],\"strides\":[8,1]}");
    jsonw_finish(&w);
}

static void test_to_mli_per_axis(void **state)
{
    struct tensor_desc desc = {0};
    struct fault fault;
    mli_tensor tensor;

    (void)state;
    memset(&tensor, 0xff, sizeof tensor);
    assert_no_fault(read_desc("{\"type\":\"sa8\",\"shape\":[2,3],\"strides\":[4,1],\"axis\":1,"
                              "\"scale\":[5,6,7],\"zero_point\":8}",
                              &desc, &fault),
                    &fault);
    tensor_desc_to_mli(&desc, &tensor);
    assert_int_equal(tensor.rank, 2);
    assert_int_equal(tensor.shape[0], 2);
    assert_int_equal(tensor.shape[1], 3);
    assert_int_equal(tensor.shape[2], 0);
    assert_int_equal(tensor.mem_stride[0], 4);
    assert_int_equal(tensor.mem_stride[2], 0);
    assert_int_equal(tensor.el_type, MLI_EL_SA_8);
    assert_int_equal(tensor.el_params.sa.type, MLI_EL_PARAM_SC16_ZP16);
    assert_int_equal(tensor.el_params.sa.dim, 1);
    assert_ptr_equal(tensor.el_params.sa.scale.mem.pi16, desc.quant.scale);
    assert_int_equal(tensor.el_params.sa.scale.capacity, 6);
    assert_ptr_equal(tensor.el_params.sa.zero_point.mem.pi16, desc.quant.zero_point);
    assert_int_equal(tensor.el_params.sa.zero_point.capacity, 6);
    assert_ptr_equal(tensor.el_params.sa.scale_frac_bits.mem.pi8, desc.quant.scale_frac_bits);
    assert_int_equal(tensor.el_params.sa.scale_frac_bits.capacity, 3);
    assert_int_equal(tensor.data.capacity, UINT32_MAX); /* the capacity is unchanged */
    tensor_desc_finish(&desc);
}

static void test_to_mli_values(void **state)
{
    struct tensor_desc desc = {0};
    struct fault fault;
    mli_tensor tensor;

    (void)state;
    assert_no_fault(read_desc("{\"type\":\"sa8\",\"scale\":77,\"zero_point\":-3,"
                              "\"scale_frac_bits\":10}",
                              &desc, &fault),
                    &fault);
    tensor_desc_to_mli(&desc, &tensor);
    assert_int_equal(tensor.el_params.sa.dim, -1);
    assert_int_equal(tensor.el_params.sa.scale.mem.i16, 77);
    assert_int_equal(tensor.el_params.sa.scale.capacity, 0);
    assert_int_equal(tensor.el_params.sa.zero_point.mem.i16, -3);
    assert_int_equal(tensor.el_params.sa.scale_frac_bits.mem.i8, 10);
    tensor_desc_finish(&desc);

    desc = (struct tensor_desc){.has_type = true, .type = MLI_EL_SA_32};
    tensor_desc_to_mli(&desc, &tensor); /* parameters that are not given become neutral */
    assert_int_equal(tensor.el_params.sa.dim, -1);
    assert_int_equal(tensor.el_params.sa.scale.mem.i16, 1);
    assert_int_equal(tensor.el_params.sa.zero_point.mem.i16, 0);
    assert_int_equal(tensor.el_params.sa.scale_frac_bits.mem.i8, 0);

    desc = (struct tensor_desc){
        .has_type = true, .type = MLI_EL_FX_16, .quant = {.has_frac_bits = true, .frac_bits = -9}};
    tensor_desc_to_mli(&desc, &tensor);
    assert_int_equal(tensor.el_params.fx.frac_bits, -9);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_type_names),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_per_tensor),
        cmocka_unit_test(test_per_axis),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_check_members),
        cmocka_unit_test(test_completed_later),
        cmocka_unit_test(test_copy),
        cmocka_unit_test(test_alloc),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_write_uncounted_strides),
        cmocka_unit_test(test_to_mli_per_axis),
        cmocka_unit_test(test_to_mli_values),
    };

    return cmocka_run_group_tests_name("tensor_desc", tests, NULL, NULL);
}
