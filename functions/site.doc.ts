export { siteParameter } from './contract.ts'
