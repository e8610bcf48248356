size_t @NAME@_packed_size(void)
{
    return PACKED_FLOATS * sizeof(float);
}

int @NAME@_pack_weights(const float *const *@RESTRICT@ weights, void *@RESTRICT@ packed)
{
    if (!weights || !packed) return @NAME_UPPER@_NULL_POINTER;
    if (!runs_here()) return @NAME_UPPER@_OTHER_PROCESSOR;
    if (misaligned(packed)) return @NAME_UPPER@_MISALIGNED;
    float *const base = packed;
    for (int g = 0; g < PRODUCTS; g++)
        if (!weights[g]) return @NAME_UPPER@_NULL_POINTER;
    for (int g = 0; g < PRODUCTS; g++) {
        struct ls_buffers s = {NULL, weights[g], base + at[g].panels, NULL, NULL, NULL};
        if (at[g].in_place) {
            const size_t floats = (size_t)product[g]->inner * (size_t)product[g]->features;
            memcpy(base + at[g].weights, weights[g], floats * sizeof(float));
            s.weights = base + at[g].weights;
        }
        if (product[g]->load_weights) product[g]->load_weights(&s);
    }
    return @NAME_UPPER@_OK;
}

int @NAME@_run(const float *@RESTRICT@ x, const void *@RESTRICT@ packed, void *@RESTRICT@ workspace, float *@RESTRICT@ y)
{
    struct control *c = workspace;
    if (!x || !packed || !c || !y) return @NAME_UPPER@_NULL_POINTER;
    if (misaligned(c) || misaligned(packed)) return @NAME_UPPER@_MISALIGNED;
    if (misaligned(x) || misaligned(y)) return @NAME_UPPER@_MISALIGNED;
    if (c->magic != MAGIC) return @NAME_UPPER@_NOT_OPEN;
    float *const base = (float *)((char *)workspace + CONTROL_BYTES);
    const float *const panels = packed;
    const float *input = x;
    for (int g = 0; g < PRODUCTS; g++) {
        float *const output = g + 1 < PRODUCTS ? base + at[g].output : y;
        /* Panels are only read by a run. */
        c->buffers[g] = (struct ls_buffers){
            input, panels + at[g].weights, (float *)(uintptr_t)(panels + at[g].panels), base + at[g].packed,
            base + at[g].scratch, output};
        input = output;
    }
    call(c);
    return @NAME_UPPER@_OK;
}
