// The client's index loads its cluster mode and HTTP; its parts cost 0.8 MB. They are typed by the index alone.
declare module "@prometheus-io/client/lib/counter.js" {
  import type { Counter } from "@prometheus-io/client";

  const part: typeof Counter;
  export default part;
}
declare module "@prometheus-io/client/lib/gauge.js" {
  import type { Gauge } from "@prometheus-io/client";

  const part: typeof Gauge;
  export default part;
}
declare module "@prometheus-io/client/lib/histogram.js" {
  import type { Histogram } from "@prometheus-io/client";

  const part: typeof Histogram;
  export default part;
}
declare module "@prometheus-io/client/lib/registry.js" {
  import type { Registry } from "@prometheus-io/client";

  const part: typeof Registry;
  export default part;
}
