/** The rows in the tables of the apps. */
export const rowsAtFirst = {
  users: [{ name: 'Ada' }, { name: 'Grace' }],
  orders: Array.from({ length: 12 }, (_, index) => ({
    userId: 1 + (index % 2),
    product: `product ${index}`,
    price: 100 + index,
  })),
};
