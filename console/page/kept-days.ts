/** The number of days in which removed files can be restored. The service writes it into the page. */
export const keptDays = (): number => Number(document.documentElement.dataset['keptDays'])
