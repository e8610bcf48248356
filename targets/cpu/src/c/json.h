/* Writes one JSON object, to `json_out`; commas are its own business. */
#ifndef JSON_H
#define JSON_H

#include <math.h>
#include <stdio.h>

static FILE *json_out; /* set by `main` */
static int json_first = 1;

static void json_key(const char *key)
{
    if (!json_first) fputc(',', json_out);
    json_first = 0;
    if (key) fprintf(json_out, "\"%s\":", key);
}

static void json_open(const char *key, char bracket)
{
    json_key(key);
    fputc(bracket, json_out);
    json_first = 1;
}

static void json_close(char bracket)
{
    fputc(bracket, json_out);
    json_first = 0;
}

/* Not-a-number and infinities have no JSON: null. */
static void json_number(const char *key, double value)
{
    json_key(key);
    if (isfinite(value))
        fprintf(json_out, "%.9g", value);
    else
        fputs("null", json_out);
}

static void json_integer(const char *key, long long value)
{
    json_key(key);
    fprintf(json_out, "%lld", value);
}

static void json_flag(const char *key, int value)
{
    json_key(key);
    fputs(value ? "true" : "false", json_out);
}

static void json_text(const char *key, const char *value)
{
    json_key(key);
    fputc('"', json_out);
    for (; *value; value++) {
        if (*value == '"' || *value == '\\') fputc('\\', json_out);
        if ((unsigned char)*value >= ' ') fputc(*value, json_out);
    }
    fputc('"', json_out);
}

#endif
