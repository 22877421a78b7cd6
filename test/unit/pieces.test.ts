import { describe, expect, test } from 'vitest'
import { giveBack, lendPiece, pieceSize } from '../../lib/core/pieces.ts'

describe('memory for bytes on their way to a reader (O-21)', () => {
  test('serves the next reader when it is given back, and never two at once', () => {
    const first = lendPiece()
    const second = lendPiece()
    expect(second.buffer).not.toBe(first.buffer)
    giveBack(first)
    giveBack(first)
    expect([lendPiece(), lendPiece()].filter(({ buffer }) => buffer === first.buffer)).toHaveLength(1)
  })

  test('is given back by any part of it', () => {
    const piece = lendPiece()
    giveBack(piece.subarray(5, 9))
    expect(lendPiece().buffer).toBe(piece.buffer)
  })

  test('goes back to the system at once after many readers', () => {
    const pieces = Array.from({ length: 200 }, lendPiece)
    pieces.forEach(giveBack)
    const kept = pieces.reduce((bytes, { buffer }) => bytes + buffer.byteLength, 0)
    expect(kept).toBe(64 * pieceSize)
  })

  test('of others is left alone', () => {
    const bytes = Buffer.alloc(pieceSize)
    giveBack(bytes)
    expect(lendPiece().buffer).not.toBe(bytes.buffer)
  })
})
