/** The cloud provider that makes Node objects without machines. */
export { BUILT_IN_ZONES, builtInKwokCatalogue } from "./catalogue/built-in.ts";
export { type CatalogueFault, type CatalogueOutcome, formatCatalogueFault, parseCatalogue } from "./catalogue/parse-catalogue.ts";
export { createKwokProvider, type KwokProviderOptions } from "./provider.ts";
