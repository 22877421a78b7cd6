import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'

// A hash takes 30 ms of processor time on purpose. The cases need thousands, so here a hash uses little memory. Only
// this process knows these hashes.

const { argon2 } = crypto
crypto.argon2 = (algorithm, parameters, answer) => argon2(algorithm, { ...parameters, memory: 64, passes: 1 }, answer)
syncBuiltinESMExports()
