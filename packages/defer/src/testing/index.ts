export { deliveries, delivery, host, type SpyHost } from './deliveries.ts';
export {
  sinkContract,
  type CleanUp,
  type ContractCase,
  type Message,
  type SinkDestination,
  type SinkTraits,
} from './sink-contract.ts';
