import { expect, test, vi } from 'vitest'
import { removeInSlices } from '../large-removal.ts'

test('Removing 100,000 keys lists each key at most twice (S-113)', async () => {
  const info = vi.spyOn(console, 'info').mockReturnValue()
  const { slices, listings, passed, ...end } = await removeInSlices({ pages: 100, each: 20 })
  expect(end).toEqual({ isOpen: false, isLeft: false })
  expect(slices).toBeGreaterThan(4)
  // 100 pages. Each slice lists up to two in advance, and the last slice checks that the folder is empty.
  expect(listings).toBeLessThanOrEqual(100 + 2 * slices + 1)
  expect(passed).toBeLessThanOrEqual(2 * 200_000 + slices * 4_000)
  info.mockRestore()
}, 300_000)
