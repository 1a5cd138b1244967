/** How an EC2NodeClass chooses subnets, security groups, images, reservations and a placement group. Rules A-63…A-65, A-71, A-72. */
import Type from "typebox";
import { choice, map, type Rule, rules, text } from "./fields.ts";

const tags = (description: string) =>
  map(Type.String(), description, {
    maxProperties: 20,
    ...rules({ rule: "self.all(key, key != '' && self[key] != '')", message: "empty tag keys or values aren't supported" }),
  });

const oneOf = (fields: readonly string[]) => fields.map((field) => `has(term.${field})`).join(" || ");
const everyTermHas = (...fields: readonly string[]): Rule => ({
  rule: `self.all(term, ${oneOf(fields)})`,
  message: `expected at least one, got none, [${fields.map((field) => `'${field}'`).join(", ")}]`,
});
/** A-71: says no only when every term of the list mixes the field with the others, and so also to an empty list. */
const notAllTermsMix = (field: string, ...others: readonly string[]): Rule => ({
  rule: `!self.all(term, has(term.${field}) && (${oneOf(others)}))`,
  message: `'${field}' is mutually exclusive, cannot be set with a combination of other fields`,
});
/** Says no as soon as one term mixes the field with the others. */
const noTermMixes = (field: string, ...others: readonly string[]): Rule => ({
  rule: `!self.exists(term, has(term.${field}) && (${oneOf(others)}))`,
  message: `'${field}' is mutually exclusive, cannot be set with a combination of other fields`,
});

const subnetTerm = Type.Object({
  tags: Type.Optional(tags("Tags of the subnets.")),
  id: Type.Optional(text("ID of the subnet.", { pattern: "subnet-[0-9a-z]+" })),
});
export const subnetSelectorTerms = Type.Array(subnetTerm, {
  description: "Subnets for the nodes: what any term selects.",
  maxItems: 30,
  ...rules(
    { rule: "self.size() != 0", message: "subnetSelectorTerms cannot be empty" },
    everyTermHas("tags", "id"),
    notAllTermsMix("id", "tags"),
  ),
});

const securityGroupTerm = Type.Object({
  tags: Type.Optional(tags("Tags of the security groups.")),
  id: Type.Optional(text("ID of the security group.", { pattern: "sg-[0-9a-z]+" })),
  name: Type.Optional(text("Name of the security group, not its `Name` tag.")),
});
export const securityGroupSelectorTerms = Type.Array(securityGroupTerm, {
  description: "Security groups of the nodes: what any term selects.",
  maxItems: 30,
  ...rules(
    { rule: "self.size() != 0", message: "securityGroupSelectorTerms cannot be empty" },
    everyTermHas("tags", "id", "name"),
    notAllTermsMix("id", "tags", "name"),
    notAllTermsMix("name", "tags", "id"),
  ),
});

const capacityReservationTerm = Type.Object({
  tags: Type.Optional(tags("Tags of the capacity reservations.")),
  id: Type.Optional(text("ID of the capacity reservation.", { pattern: "^cr-[0-9a-z]+$" })),
  ownerID: Type.Optional(text("AWS account that owns the capacity reservation.", { pattern: "^[0-9]{12}$" })),
  instanceMatchCriteria: Type.Optional(choice(["open", "targeted"], "How instances come into the reservation.")),
});
export const capacityReservationSelectorTerms = Type.Array(capacityReservationTerm, {
  description: "Capacity reservations that nodes may use: what any term selects.",
  maxItems: 30,
  ...rules(everyTermHas("tags", "id", "instanceMatchCriteria"), notAllTermsMix("id", "tags", "ownerID", "instanceMatchCriteria")),
});

const ALIAS_FAMILIES = ["al2", "al2023", "bottlerocket", "windows2019", "windows2022", "windows2025"];
const alias = text("An image family and its version, as `al2023@latest`.", {
  maxLength: 30,
  ...rules(
    { rule: "self.matches('^[a-zA-Z0-9]+@.+$')", message: "'alias' is improperly formatted, must match the format 'family@version'" },
    {
      rule: `self.split('@')[0] in [${ALIAS_FAMILIES.map((family) => `'${family}'`).join(", ")}]`,
      message: `family is not supported, must be one of the following: ${ALIAS_FAMILIES.map((family) => `'${family}'`).join(", ")}`,
    },
    {
      rule: "!self.startsWith('windows') || self.matches('^[^@]*@latest$')",
      message: "windows families may only specify version 'latest'",
    },
  ),
});
const amiTerm = Type.Object({
  alias: Type.Optional(alias),
  tags: Type.Optional(tags("Tags of the images.")),
  id: Type.Optional(text("ID of the image.", { pattern: "ami-[0-9a-z]+" })),
  name: Type.Optional(text("Name of the image, not its `Name` tag.")),
  owner: Type.Optional(text("Account or alias that owns the images.")),
  ssmParameter: Type.Optional(text("Name or ARN of an SSM parameter that holds the image's ID.")),
});
export const amiSelectorTerms = Type.Array(amiTerm, {
  description: "Images for the nodes: what any term selects.",
  minItems: 1,
  maxItems: 30,
  ...rules(
    everyTermHas("tags", "id", "name", "alias", "ssmParameter"),
    noTermMixes("id", "alias", "tags", "name", "owner"),
    noTermMixes("alias", "id", "tags", "name", "owner"),
    {
      rule: "!(self.exists(term, has(term.alias)) && self.size() != 1)",
      message: "'alias' is mutually exclusive, cannot be set with a combination of other amiSelectorTerms",
    },
  ),
});

export const placementGroupSelector = Type.Object(
  {
    name: Type.Optional(text("Name of the placement group.", { minLength: 1 })),
    id: Type.Optional(text("ID of the placement group.", { pattern: "^pg-[0-9a-z]+$" })),
  },
  {
    description: "The placement group for the nodes.",
    ...rules({ rule: "has(self.name) != has(self.id)", message: "expected exactly one of ['name', 'id']" }),
  },
);
