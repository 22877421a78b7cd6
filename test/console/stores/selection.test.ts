import { expect, test } from 'vitest'
import { choose, chooseAll, nothing, retain, type Selection, step } from '../../../console/files/selection.ts'

const names = ['a', 'b', 'c', 'd', 'e']
const seen = ({ chosen, active }: Selection) => [[...chosen].sort().join(''), active]

test('a range of selected entries can grow and shrink at its end', () => {
  const begun = choose(nothing, names, 'b', 'alone')
  const down = choose(begun, names, 'd', 'range')
  expect(seen(down)).toEqual(['bcd', 'd'])
  expect(seen(choose(down, names, 'a', 'range'))).toEqual(['ab', 'a'])
})

test('single entries can be added to the selection and removed from it', () => {
  const two = choose(choose(nothing, names, 'b', 'alone'), names, 'e', 'toggle')
  expect(seen(two)).toEqual(['be', 'e'])
  expect(seen(choose(two, names, 'b', 'toggle'))).toEqual(['e', 'b'])
})

test('arrow keys never move the focus out of the list', () => {
  expect(seen(step(nothing, names, 1, 'alone'))).toEqual(['a', 'a'])
  expect(seen(step(nothing, names, Number.POSITIVE_INFINITY, 'alone'))).toEqual(['e', 'e'])
  expect(seen(step(choose(nothing, names, 'e', 'alone'), names, 3, 'alone'))).toEqual(['e', 'e'])
  expect(seen(step(choose(nothing, names, 'b', 'alone'), names, 2, 'toggle'))).toEqual(['b', 'd'])
  expect(seen(step(nothing, [], 1, 'alone'))).toEqual(['', undefined])
})

test('removed entries are no longer selected, and the focus stays in place', () => {
  const all = chooseAll(choose(nothing, names, 'c', 'alone'), names)
  expect(seen(retain(all, names, ['a', 'b', 'd', 'x']))).toEqual(['abd', 'd'])
  expect(seen(retain(choose(nothing, names, 'e', 'alone'), names, ['a']))).toEqual(['', 'a'])
  expect(seen(retain(all, names, []))).toEqual(['', undefined])
})
