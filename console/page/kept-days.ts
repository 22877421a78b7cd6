/** Days in which removed files can be restored. The service writes the number into the page. */
export const keptDays = (): number => Number(document.documentElement.dataset['keptDays'])
