/* Shorthands for the tables of packet_pm4.c and packet_sdma.c: a field's name, dword and bits. */
#ifndef VGPU_ENGINE_PACKET_FIELDS_H
#define VGPU_ENGINE_PACKET_FIELDS_H

#include "vgpu/engine/packet.h"

#define END                       {.name = NULL}
#define HEX(n, dw, hi, lo)        {n, dw, hi, lo, FIELD_HEX, 0, NULL}
#define DEC(n, dw, hi, lo)        {n, dw, hi, lo, FIELD_DEC, 0, NULL}
#define COUNT(n, dw, hi, lo)      {n, dw, hi, lo, FIELD_COUNT, 0, NULL}
#define FLAG(n, dw, bit)          {n, dw, bit, bit, FIELD_FLAG, 0, NULL}
#define NAME(n, dw, hi, lo, list) {n, dw, hi, lo, FIELD_NAME, 0, list}
#define WORD(n, dw)               {n, dw, 31, 0, FIELD_WORD, 0, NULL}
#define VA(n, dw)                 {n, dw, 31, 0, FIELD_VA, 0, NULL}
#define N64(n, dw)                {n, dw, 31, 0, FIELD_64, 0, NULL}
#define DATA(n, dw)               {n, dw, 31, 0, FIELD_DATA, 0, NULL}
#define SPARE(dw, hi, lo)         {"", dw, hi, lo, FIELD_RESERVED, 0, NULL}
#define REGS(dw, window)          {"", dw, 15, window, FIELD_REGS, 0, NULL}
/* Fields of some generations only. */
#define GFLAG(g, n, dw, bit)          {n, dw, bit, bit, FIELD_FLAG, g, NULL}
#define GHEX(g, n, dw, hi, lo)        {n, dw, hi, lo, FIELD_HEX, g, NULL}
#define GDEC(g, n, dw, hi, lo)        {n, dw, hi, lo, FIELD_DEC, g, NULL}
#define GNAME(g, n, dw, hi, lo, list) {n, dw, hi, lo, FIELD_NAME, g, list}

#endif
