import { history } from './bench/history.ts'

const tables = await history([])
console.log(JSON.stringify(tables.at(-1)))
