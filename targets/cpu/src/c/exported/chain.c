/* The tokens of worker `w` when whole panels are dealt evenly. */
static inline void share(const struct ls_gemm *gemm, int w, long *first, long *last)
{
    const long panels = (gemm->tokens + gemm->token_panel - 1) / gemm->token_panel;
    *first = w * panels / THREADS * gemm->token_panel;
    *last = (w + 1) * panels / THREADS * gemm->token_panel;
    if (*last > gemm->tokens) *last = gemm->tokens;
}

static inline void pack_inputs(struct control *c, const struct ls_gemm *gemm, const struct ls_buffers *s, int w)
{
    int alone = 1;
    for (int i = 0; i < gemm->token_blocks; i++) alone &= gemm->token_worker[i] >= 0;
    if (alone) {
        for (int i = 0; i < gemm->token_blocks; i++)
            if (gemm->token_worker[i] == w) gemm->pack(s, gemm->token_start[i], gemm->token_start[i + 1]);
        return;
    }
    long first, last;
    share(gemm, w, &first, &last);
    if (first < last) gemm->pack(s, first, last);
    meet(c);
}

/* Product after product, with a barrier wherever one worker reads what another wrote. */
static inline void stepped(struct control *c, int w)
{
    for (int g = 0; g < PRODUCTS; g++) {
        const struct ls_gemm *gemm = product[g];
        const struct ls_buffers *s = &c->buffers[g];
        if (gemm->pack) pack_inputs(c, gemm, s, w);
        for (int batch = 0; batch < (gemm->batches ? gemm->batches : 1); batch++) {
            if (batch) meet(c);
            gemm->compute(s, w, batch, 0, gemm->tokens);
            if (!gemm->batches) continue;
            meet(c);
            gemm->reduce(s, w, batch);
        }
        if (gemm->activate) {
            long first, last;
            meet(c);
            share(gemm, w, &first, &last);
            if (first < last) gemm->activate(s, first, last);
        }
        if (g + 1 < PRODUCTS) meet(c);
    }
}

/* Each row block of the first product through all products: no barrier. */
static inline void carried(struct control *c, int w)
{
    const struct ls_gemm *leader = product[0];
    for (int i = 0; i < leader->token_blocks; i++) {
        if (leader->token_worker[i] != w) continue;
        const long first = leader->token_start[i], last = leader->token_start[i + 1];
        for (int g = 0; g < PRODUCTS; g++) {
            const struct ls_gemm *gemm = product[g];
            const struct ls_buffers *s = &c->buffers[g];
            if (gemm->pack) gemm->pack(s, first, last);
            gemm->compute(s, w, 0, first, last);
            if (gemm->activate) gemm->activate(s, first, last);
        }
    }
}

static void work(struct control *c, int w)
{
    if (CARRY)
        carried(c, w);
    else
        stepped(c, w);
}

