// No job at all: the baseline for the others.
import { Controller, Get } from '@nestjs/common';
import { orders } from './access-record.ts';
import type { Variant } from './variant.ts';

@Controller()
class OrdersController {
  @Get('orders')
  list(): typeof orders {
    return orders;
  }
}

export const plain: Variant = { controllers: [OrdersController] };
