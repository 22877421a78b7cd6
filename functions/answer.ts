export type { Answer } from './contract.ts'
