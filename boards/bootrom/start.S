// Boot ROM for an emulated RP2040: vectors, header, reset, table lookup and the bit functions.
//
// Written from the RP2040 datasheet, "Bootrom" (2.8): the layout of the first bytes, the codes of
// the function table and what each function promises. Nothing is taken from Raspberry Pi's ROM.
// There is no USB boot loader and no second core: where the real ROM would wait for either, this
// one stops with a BKPT, which the emulator's bridge reports. BKPT's number says why:
//   1 exception in the ROM   2 no second stage in flash   3 USB boot asked for   4 no such function

    .syntax unified
    .cpu cortex-m0plus
    .thumb

    .equ FLASH_BASE, 0x10000000
    .equ STAGE2_SIZE, 256
    .equ STAGE2_RAM, 0x20041f00     // where the second stage expects to run: the end of SRAM5
    .equ STACK_TOP, 0x20041f00

    .section .vectors, "a"
    .word STACK_TOP
    .word reset
    .word stop_exception            // NMI
    .word stop_exception            // hard fault
    .byte 'M', 'u', 1               // 0x10: magic
    .byte 3                         // 0x13: version; 3 is the ROM of chip revision B2
    .hword function_table           // 0x14
    .hword data_table               // 0x16
    .hword table_lookup + 1         // 0x18; + 1: Thumb, which a 16-bit relocation does not add

    .section .text.start, "ax"

    .global reset
    .thumb_func
reset:
    ldr r0, =FLASH_BASE
    ldr r1, [r0]
    adds r1, #1
    beq stop_blank                  // an erased flash reads as ones
    ldr r1, =STAGE2_RAM
    ldr r2, =STAGE2_SIZE
    movs r4, r1
1:
    subs r2, #4
    ldr r3, [r0, r2]
    str r3, [r1, r2]
    bne 1b
    adds r4, #1                     // Thumb
    movs r0, #0
    mov lr, r0                      // 0 tells the second stage that the ROM called it
    bx r4

    .thumb_func
stop_exception:
    bkpt #1
    b stop_exception

stop_blank:
    bkpt #2
    b stop_blank

    .global rom_reset_usb_boot
    .thumb_func
rom_reset_usb_boot:
    bkpt #3
    b rom_reset_usb_boot

    .global rom_missing
    .thumb_func
rom_missing:
    bkpt #4
    bx lr

// void *table_lookup(const uint16_t *table, uint32_t code): pairs of code and address, ended by a
// code of 0; NULL when there is no such code.
    .thumb_func
table_lookup:
    ldrh r2, [r0]
    cmp r2, #0
    beq 2f
    cmp r2, r1
    beq 1f
    adds r0, #4
    b table_lookup
1:
    ldrh r2, [r0, #2]
2:
    movs r0, r2
    bx lr

// The bit functions: r0 in, r0 out. Callers count on r12 (and here r3) being left alone.

    .global rom_popcount32
    .thumb_func
rom_popcount32:                     // sums of 2, 4, 8 bits, then all bytes by one multiplication
    ldr r1, =0x55555555
    lsrs r2, r0, #1
    ands r2, r1
    subs r0, r2
    ldr r1, =0x33333333
    lsrs r2, r0, #2
    ands r2, r1
    ands r0, r1
    adds r0, r2
    ldr r1, =0x0f0f0f0f
    lsrs r2, r0, #4
    adds r0, r2
    ands r0, r1
    ldr r1, =0x01010101
    muls r0, r1
    lsrs r0, #24
    bx lr

    .global rom_clz32
    .thumb_func
rom_clz32:
    movs r1, #32
    lsrs r2, r0, #16
    beq 1f
    subs r1, #16
    movs r0, r2
1:
    lsrs r2, r0, #8
    beq 2f
    subs r1, #8
    movs r0, r2
2:
    lsrs r2, r0, #4
    beq 3f
    subs r1, #4
    movs r0, r2
3:
    lsrs r2, r0, #2
    beq 4f
    subs r1, #2
    movs r0, r2
4:
    lsrs r2, r0, #1
    beq 5f
    subs r1, #1
    movs r0, r2
5:
    subs r0, r1, r0                 // what is left is 0 or 1
    bx lr

    .global rom_ctz32
    .thumb_func
rom_ctz32:                          // 31 - clz of the lowest one; 32 for 0
    cmp r0, #0
    beq 1f
    rsbs r1, r0, #0
    ands r0, r1
    push {lr}
    bl rom_clz32
    movs r1, #31
    subs r0, r1, r0
    pop {pc}
1:
    movs r0, #32
    bx lr

    .global rom_reverse32
    .thumb_func
rom_reverse32:
    ldr r1, =0x55555555
    lsrs r2, r0, #1
    ands r2, r1
    ands r0, r1
    lsls r0, #1
    orrs r0, r2
    ldr r1, =0x33333333
    lsrs r2, r0, #2
    ands r2, r1
    ands r0, r1
    lsls r0, #2
    orrs r0, r2
    ldr r1, =0x0f0f0f0f
    lsrs r2, r0, #4
    ands r2, r1
    ands r0, r1
    lsls r0, #4
    orrs r0, r2
    rev r0, r0
    bx lr

    .macro entry a, b, address          // a Thumb function
    .byte \a, \b
    .hword \address + 1
    .endm

    .section .rodata.tables, "a"
    .balign 4
function_table:
    entry 'P', '3', rom_popcount32
    entry 'R', '3', rom_reverse32
    entry 'L', '3', rom_clz32
    entry 'T', '3', rom_ctz32
    entry 'M', 'S', rom_memset
    entry 'S', '4', rom_memset
    entry 'M', 'C', rom_memcpy
    entry 'C', '4', rom_memcpy
    entry 'U', 'B', rom_reset_usb_boot
    entry 'I', 'F', rom_flash_nothing       // connect_internal_flash
    entry 'E', 'X', rom_flash_nothing       // flash_exit_xip
    entry 'F', 'C', rom_flash_nothing       // flash_flush_cache
    entry 'C', 'X', rom_flash_nothing       // flash_enter_cmd_xip
    entry 'R', 'E', rom_flash_range_erase
    entry 'R', 'P', rom_flash_range_program
    .word 0

data_table:
    .byte 'S', 'F'
    .hword rom_float + 4
    .byte 'S', 'D'
    .hword rom_double + 4
    .word 0
