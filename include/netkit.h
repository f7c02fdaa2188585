/* The name of the library's header in existing programs. New programs include nk.h. */
#ifndef NETKIT_H
#define NETKIT_H

#include "nk.h"

/* Programs of this header expect alignas. */
#if !defined(__cplusplus) && defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#include <stdalign.h>
#endif

#endif /* NETKIT_H */
