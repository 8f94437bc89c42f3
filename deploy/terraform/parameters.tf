# From settings to the parameters of the template. Settings are texts in their one-line form
# (docs/settings.md), whether a variable has them or the settings file; what CloudFormation
# cannot read out of such a text it gets as lists of their own.

data "aws_caller_identity" "current" {}

locals {
  file = yamldecode(var.settings_file == null ? "{}" : file(var.settings_file))

  # What the file says of each setting, wherever it says it: in its section, or by its key.
  said = { for key, place in local.places : key => try(local.file[place[0]][place[1]], local.file[key], null) }

  # A file has lists and mappings where a setting has one line.
  lines = {
    remedies  = try(join(",", flatten([for cluster, of in local.said.remedies : try([for remedy, policy in of : "${cluster}/${remedy}=${policy}"], ["${cluster}=${of}"])])), null)
    cleanup   = try(join(",", [for cluster, mode in local.said.cleanup : "${cluster}=${mode}"]), null)
    owners    = try(join(",", flatten([for cluster, fields in local.said.owners : [for field, value in fields : "${cluster}/${field}=${contains(["team", "service"], field) ? replace(urlencode(value), "+", "%20") : value}"]])), null)
    ownerTags = try(join(",", [for field, names in local.said.ownerTags : "${field}=${join("+", flatten([names]))}"]), null)
    spokes = try(join(",", [for spoke in local.said.spokes :
      try("${spoke.account}/${spoke.region}${try("=${spoke.name}", "")}", tostring(spoke))
    ]), null)
    targets = try(join(",", [for target in local.said.targets :
      try("${target.kind}${try("/${target.severity}", "")}${try("=${target.secret}", "=${target.topic}", "")}", tostring(target))
    ]), null)
    routes = try(join(",", [for route in local.said.routes : try(join("", concat(
      [join("/", concat([try(route.cluster, "all")], try([route.severity], []), [for name, value in try(route.tags, {}) : "${replace(urlencode(name), "+", "%20")}:${replace(urlencode(value), "+", "%20")}"]))],
      ["=", try(route.channel, "")],
      [for called in [try(route.page, []), try(route.escalate, [])] : "@${join("+", flatten([called]))}" if length(flatten([called])) > 0],
    )), tostring(route))]), null)
  }

  # A text stays one; true and false are how YAML 1.1 reads on and off.
  from_file = { for key, value in local.said : key => (
    can(tobool(value)) && !can(tonumber(value)) ? (tobool(value) ? "on" : "off") :
    can(tostring(value)) ? tostring(value) :
    lookup(local.lines, key, null) != null ? local.lines[key] : join(",", value)
  ) if value != null }

  # What is given as a variable counts where the file says nothing.
  settings = { for key, value in local.variables : key => lookup(local.from_file, key, value) }

  stack_name  = lookup(local.from_file, "stackName", var.stack_name)
  name_prefix = lower(local.stack_name)
  parts       = { for key in ["clusters", "remedies", "cleanup", "targets", "spokes", "relays"] : key => [for part in split(",", local.settings[key]) : trimspace(part)] }

  # remedies: prod=approve, prod/replace-instance=off, 222233334444/eu-west-1/prod=auto
  policies = local.settings.remedies == "off" ? {} : { for part in local.parts.remedies : split("=", part)[0] => split("=", part)[1] }
  keys     = { for key in keys(local.policies) : key => regex("^((?:[0-9]{12}/[a-z0-9-]+/)?[^/]+)(?:/.+)?$", key)[0] }
  opted_in = { for remedy in [
    "add-nat-route", "open-endpoint-security-group", "replace-instance", "cover-zones", "create-access-entry", "delete-leaked-interfaces"
    ] : remedy => sort(distinct([for cluster in values(local.keys) : cluster
  if lookup(local.policies, "${cluster}/${remedy}", lookup(local.policies, cluster, "off")) != "off"])) }
  own = { for remedy, clusters in local.opted_in : remedy => [for cluster in clusters : cluster if !strcontains(cluster, "/")] }

  # cleanup: prod=delete, dev=dry-run
  modes       = local.settings.cleanup == "report" ? {} : { for part in local.parts.cleanup : split("=", part)[0] => split("=", part)[1] }
  cleaned     = sort([for cluster, mode in local.modes : cluster if mode != "report"])
  own_cleaned = [for cluster in local.cleaned : cluster if !strcontains(cluster, "/")]

  # targets: sns, pagerduty/critical=rollcall/pagerduty, amazonq=arn:…
  targets = local.settings.targets == "none" ? [] : [for part in local.parts.targets : {
    kind  = split("/", split("=", part)[0])[0]
    where = strcontains(part, "=") ? join("=", slice(split("=", part), 1, length(split("=", part)))) : ""
  }]

  # spokes: 222233334444/eu-west-1=payments
  spokes = local.settings.spokes == "none" ? [] : [for part in local.parts.spokes : split("=", part)[0]]
  spoke_roles = { for spoke in local.spokes : spoke => join("", [
    "arn:", startswith(split("/", spoke)[1], "cn-") ? "aws-cn" : startswith(split("/", spoke)[1], "us-gov-") ? "aws-us-gov" : "aws",
    ":iam::", split("/", spoke)[0], ":role", local.settings.rolePath, local.name_prefix, "-%s-", split("/", spoke)[1],
  ]) }
  vpcs_named  = local.settings.remedyVpcs != "none"
  roles_named = local.settings.remedyRoles != "none"
  cleaners    = concat(local.cleaned, local.opted_in["delete-leaked-interfaces"])
  remediators = concat(
    local.opted_in["replace-instance"], local.opted_in["cover-zones"],
    local.vpcs_named ? concat(local.opted_in["add-nat-route"], local.opted_in["open-endpoint-security-group"]) : [],
    local.roles_named ? local.opted_in["create-access-entry"] : [],
  )

  relays = [for cluster in local.parts.relays : cluster if cluster != "none" && !strcontains(cluster, "/")]
  entries = local.settings.kubernetesAccess == "none" || local.settings.accessClusters == "" ? [] : sort([
    for cluster in split(",", local.settings.accessClusters) : trimspace(cluster)
  ])

  computed = {
    AccessClusters                    = join(",", local.entries)
    ClusterRoleClusters               = local.settings.kubernetesAccess == "group" ? join(",", sort(local.entries)) : ""
    AddNatRouteClusters               = join(",", local.own["add-nat-route"])
    OpenEndpointSecurityGroupClusters = join(",", local.own["open-endpoint-security-group"])
    ReplaceInstanceClusters           = join(",", local.own["replace-instance"])
    CoverZonesClusters                = join(",", local.own["cover-zones"])
    CreateAccessEntryClusters         = join(",", local.own["create-access-entry"])
    DeleteInterfacesClusters          = join(",", sort(distinct(concat(local.own_cleaned, local.own["delete-leaked-interfaces"]))))
    DeleteInterfacesVpcs              = length(local.own_cleaned) > 0 && local.settings.cleanupUntagged != "none" ? local.settings.cleanupUntagged : ""
    TargetSecrets                     = join(",", distinct([for target in local.targets : target.where if target.where != "" && !contains(["sns", "amazonq"], target.kind)]))
    TargetTopics                      = join(",", distinct([for target in local.targets : target.where if target.where != "" && contains(["sns", "amazonq"], target.kind)]))
    MakeTargetTopic                   = length([for target in local.targets : target if target.kind == "sns" && target.where == ""]) > 0 ? "on" : "off"
    RelayFunctions = join(",", sort(distinct([for cluster in local.relays :
      length("${local.name_prefix}-relay-${cluster}") <= 64 ? "${local.name_prefix}-relay-${cluster}" :
      "${substr("${local.name_prefix}-relay-${cluster}", 0, 55)}-${substr(sha256(cluster), 0, 8)}"
    ])))
    SpokeAccounts        = join(",", sort(distinct([for spoke in local.spokes : split("/", spoke)[0]])))
    SpokeReaderRoles     = join(",", [for spoke in sort(local.spokes) : format(local.spoke_roles[spoke], "reader")])
    SpokeCleanerRoles    = join(",", [for spoke in sort(local.spokes) : format(local.spoke_roles[spoke], "cleaner") if anytrue([for cluster in local.cleaners : startswith(cluster, "${spoke}/")])])
    SpokeRemediatorRoles = join(",", [for spoke in sort(local.spokes) : format(local.spoke_roles[spoke], "remediator") if anytrue([for cluster in local.remediators : startswith(cluster, "${spoke}/")])])
  }

  parameters = merge(local.plain, local.computed, {
    CodeBucket = local.code_bucket
    CodePrefix = local.code_prefix
    NamePrefix = local.name_prefix
  })
}
