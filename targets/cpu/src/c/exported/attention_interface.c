int @NAME@_run(const float *@RESTRICT@ q, const float *@RESTRICT@ k, const float *@RESTRICT@ v, void *@RESTRICT@ workspace,
               float *@RESTRICT@ o)
{
    struct control *c = workspace;
    if (!q || !k || !v || !c || !o) return @NAME_UPPER@_NULL_POINTER;
    if (misaligned(c) || misaligned(q) || misaligned(k) || misaligned(v) || misaligned(o)) return @NAME_UPPER@_MISALIGNED;
    if (c->magic != MAGIC) return @NAME_UPPER@_NOT_OPEN;
    float *const base = (float *)((char *)workspace + CONTROL_BYTES);
    c->buffers = (struct ls_attention_buffers){q, k, v, base, base + PARTIAL_AT, base + SCRATCH_AT, o};
    call(c);
    return @NAME_UPPER@_OK;
}
