//// USE
 *     packed = aligned memory of @NAME@_packed_size() bytes;        @NAME@_pack_weights(weights, packed);
 *     workspace = aligned memory of @NAME@_workspace_size() bytes;  @NAME@_open(workspace);
 *     @NAME@_run(x, packed, workspace, y);                          as often as wanted
//// SHARED
packed weights
//// FIELDS
    int products;              /* weight matrices */
    long tokens;               /* rows of x and y */
    long inputs, outputs;      /* columns of x and y, float32, row-major */
    const long *weight_rows;   /* of each weight matrix [rows][columns], float32, row-major */
    const long *weight_columns;
    const int *gelu_after;     /* of each product: whether GELU (tanh form) follows */
    size_t x_floats;           /* floats that must be readable at x: tokens * inputs, and padding where the plan reads x in place */
    size_t alignment;          /* bytes; of x, y, packed and workspace */
//// PACK
size_t @NAME@_packed_size(void);

/* Brings the weight matrices into the plan's order. They are not needed afterwards. */
int @NAME@_pack_weights(const float *const *@RESTRICT@ weights, void *@RESTRICT@ packed);
//// RUN
/* y = the workload of x. Writes y and the workspace only. */
int @NAME@_run(const float *@RESTRICT@ x, const void *@RESTRICT@ packed, void *@RESTRICT@ workspace, float *@RESTRICT@ y);
