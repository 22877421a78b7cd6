/** For how many days the service keeps removed files. It writes the number into the page. */
export const keptDays = (): number => Number(document.documentElement.dataset['keptDays'])
