import { expect, test } from 'vitest'
import { giveBack, lendPiece, pieceSize } from '../../lib/core/pieces.ts'

test('a piece of memory serves one reader, even if it is returned twice (O-21)', () => {
  const first = lendPiece()
  const second = lendPiece()
  expect(second.buffer).not.toBe(first.buffer)
  giveBack(first)
  giveBack(first)
  expect([lendPiece(), lendPiece()].filter(({ buffer }) => buffer === first.buffer)).toHaveLength(1)
})

test('when a part of a piece of memory is returned, the whole piece is free again', () => {
  const piece = lendPiece()
  giveBack(piece.subarray(5, 9))
  expect(lendPiece().buffer).toBe(piece.buffer)
})

test('when many readers have ended, most memory goes back to the system', () => {
  const pieces = Array.from({ length: 200 }, lendPiece)
  pieces.forEach(giveBack)
  const kept = pieces.reduce((bytes, { buffer }) => bytes + buffer.byteLength, 0)
  expect(kept).toBe(64 * pieceSize)
})

test('memory that lendPiece did not lend is not reused after it is returned', () => {
  const bytes = Buffer.alloc(pieceSize)
  giveBack(bytes)
  expect(lendPiece().buffer).not.toBe(bytes.buffer)
})
