static void work(struct control *c, int w)
{
    const struct ls_attention *const own = &layout_sweep_attention;
    if (own->pack) {
        own->pack(&c->buffers, w, NULL);
        meet(c);
    }
    own->compute(&c->buffers, w, NULL);
    if (own->merge) {
        meet(c);
        own->merge(&c->buffers, w, NULL);
    }
}

