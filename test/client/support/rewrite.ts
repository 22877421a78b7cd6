import { writeFileSync } from 'node:fs'

/** Writes a file anew again and again, in place: all `A`, then all `B`. Says `ready` once it is there. */
const [file = '', size = '0'] = process.argv.slice(2)
const states = ['A', 'B'].map((letter) => Buffer.alloc(Number(size), letter))
for (let round = 0; ; round++) {
  writeFileSync(file, states[round % 2] ?? '', { flag: round === 0 ? 'w' : 'r+' })
  if (round === 0) console.log('ready')
}
