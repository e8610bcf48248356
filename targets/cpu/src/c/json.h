/* Writes one JSON object; commas are its own business. */
#ifndef JSON_H
#define JSON_H

#include <math.h>
#include <stdio.h>

static int json_first = 1;

static void json_key(const char *key)
{
    if (!json_first) putchar(',');
    json_first = 0;
    if (key) printf("\"%s\":", key);
}

static void json_open(const char *key, char bracket)
{
    json_key(key);
    putchar(bracket);
    json_first = 1;
}

static void json_close(char bracket)
{
    putchar(bracket);
    json_first = 0;
}

/* Not-a-number and infinities have no JSON: null. */
static void json_number(const char *key, double value)
{
    json_key(key);
    if (isfinite(value))
        printf("%.9g", value);
    else
        fputs("null", stdout);
}

static void json_integer(const char *key, long long value)
{
    json_key(key);
    printf("%lld", value);
}

static void json_flag(const char *key, int value)
{
    json_key(key);
    fputs(value ? "true" : "false", stdout);
}

static void json_text(const char *key, const char *value)
{
    json_key(key);
    putchar('"');
    for (; *value; value++) {
        if (*value == '"' || *value == '\\') putchar('\\');
        if ((unsigned char)*value >= ' ') putchar(*value);
    }
    putchar('"');
}

#endif
