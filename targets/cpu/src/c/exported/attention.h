//// USE
 *     workspace = aligned memory of @NAME@_workspace_size() bytes;  @NAME@_open(workspace);
 *     @NAME@_run(q, k, v, workspace, o);                            as often as wanted
//// SHARED
operands
//// FIELDS
    int causal;                /* whether query i sees only keys 0 to i */
    long heads, kv_heads;      /* of q and o, of k and v: kv_heads divides heads, neighbours share */
    long queries, keys;        /* rows of a head */
    long width, value_width;   /* columns of q and k, of v and o */
    size_t alignment;          /* bytes; of all pointers */
//// PACK
//// RUN
/* o = softmax(q k^T / sqrt(width)) v of every head; float32, q[heads][queries][width], k[kv_heads][keys][width],
 * v[kv_heads][keys][value_width], o[heads][queries][value_width]. Writes o and the workspace only. */
int @NAME@_run(const float *@RESTRICT@ q, const float *@RESTRICT@ k, const float *@RESTRICT@ v, void *@RESTRICT@ workspace,
               float *@RESTRICT@ o);
