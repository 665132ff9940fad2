# Cookies do not matter to these products: without this rule Varnish caches no request that has one.
vcl 4.1;

backend default {
  .host = "{{ORIGIN_HOST}}";
  .port = "{{ORIGIN_PORT}}";
}

sub vcl_recv {
  return (hash);
}
