# Written by make generate from the parameters of the standard template. Do not edit.

variable "clusters" {
  description = "Clusters to watch: \"all\" in this region, or names separated by commas. A spoke's cluster is named with its account and region (222233334444/eu-west-1/prod), here and in other settings. If none of a spoke's clusters is named, all of them are watched."
  type        = string
  default     = "all"
}

variable "slack_channel" {
  description = "Id of the Slack channel, like C0123456789. Required unless the setting targets is set: then \"none\", or leaving it out, runs Rollcall without a Slack app."
  type        = string
  default     = ""
  validation {
    condition     = can(regex("^(|none|[CGD][A-Z0-9]{2,30})$", var.slack_channel))
    error_message = "slack_channel does not have the form that its description gives."
  }
}

variable "slack_api_url" {
  description = "Address of Slack's Web API; GovSlack has another one."
  type        = string
  default     = "https://slack.com/api/"
  validation {
    condition     = can(regex("^https?://.+$", var.slack_api_url))
    error_message = "slack_api_url does not have the form that its description gives."
  }
}

variable "docs_url" {
  description = "Where you serve the site that \"make site\" builds, like https://docs.example.com/rollcall/: the check in a message then links to its page. \"none\" means no link. If nothing is set, the functions of a release that names its repository (make deploy PREBUILT=…) link to its pages on GitHub."
  type        = string
  default     = "none"
  validation {
    condition     = can(regex("^none$|^https://.+$", var.docs_url))
    error_message = "docs_url does not have the form that its description gives."
  }
}

variable "owner_tags" {
  description = "Labels and tags that name an owner. For each field, list the names to try in order, joined by \"+\": \"team=team+owner,runbook=runbook\". They are read from nodegroups, NodePools and their classes, Auto Scaling groups, subnets, the VPC and the cluster. Capitals do not matter."
  type        = string
  default     = "team=team+owner,service=service+app.kubernetes.io/part-of+app.kubernetes.io/name+application,runbook=runbook+runbook-url,dashboard=dashboard+dashboard-url"
}

variable "owners" {
  description = "Team, service, runbook and dashboard where no label or tag names them, separated by commas: \"all/team=platform,prod/runbook=https://wiki.example.com/prod\". Before \"/\" write a cluster, or all. Write a comma in a value as %2C."
  type        = string
  default     = "none"
}

variable "link_hosts" {
  description = "Hosts that a runbook or dashboard address from a label or tag can link to, separated by commas: \"wiki.example.com,*.grafana.net\". Anybody who can tag a subnet can write such an address, so other hosts are shown as plain text. Addresses in the setting owners always link."
  type        = string
  default     = "none"
}

variable "join_time" {
  description = "How long after its launch an instance should be a Ready node (1m to 15m), until 20 launches of its nodegroup have joined. From then on the limit is learned from their join times (the 95th percentile plus a margin)."
  type        = string
  default     = "5m"
  validation {
    condition     = contains(["1m", "2m", "3m", "4m", "5m", "6m", "7m", "8m", "9m", "10m", "11m", "12m", "13m", "14m", "15m"], var.join_time)
    error_message = "join_time must be one of: 1m, 2m, 3m, 4m, 5m, 6m, 7m, 8m, 9m, 10m, 11m, 12m, 13m, 14m, 15m."
  }
}

variable "give_up" {
  description = "How long an instance that has not joined is rechecked (10m to 24h)."
  type        = string
  default     = "2h"
  validation {
    condition     = can(regex("^([0-9]+(h|m|s|ms))+$|^0$", var.give_up))
    error_message = "give_up does not have the form that its description gives."
  }
}

variable "proof_time" {
  description = "How long an incident whose cause is gone stays open for a new node to confirm it (10m to 24h)."
  type        = string
  default     = "1h"
  validation {
    condition     = can(regex("^([0-9]+(h|m|s|ms))+$|^0$", var.proof_time))
    error_message = "proof_time does not have the form that its description gives."
  }
}

variable "reopen_time" {
  description = "An incident that comes back within this time reopens its message instead of posting a new one (0 to 168h)."
  type        = string
  default     = "24h"
  validation {
    condition     = can(regex("^([0-9]+(h|m|s|ms))+$|^0$", var.reopen_time))
    error_message = "reopen_time does not have the form that its description gives."
  }
}

variable "report_hour" {
  description = "Hour of the day (UTC, 0 to 23) of the daily Spot report, which covers the 24 hours before."
  type        = string
  default     = "8"
  validation {
    condition     = try(tonumber(var.report_hour) >= 0 && tonumber(var.report_hour) <= 23, false)
    error_message = "report_hour must be a number from 0 to 23."
  }
}

variable "weekly" {
  description = "Day and hour (UTC) of the weekly message: \"Fri/15:00\", or \"off\". It covers all clusters and the seven days before that day: launches, incidents, open incidents, what could not be checked."
  type        = string
  default     = "Mon/08:00"
  validation {
    condition     = can(regex("^off$|^[A-Za-z]{3}/([01][0-9]|2[0-3]):00$", var.weekly))
    error_message = "weekly does not have the form that its description gives."
  }
}

variable "cleanup" {
  description = "What eni-cleanup does with network interfaces that terminated nodes left: \"report\" (only report them), or a mode for each cluster that opts in, separated by commas: \"prod=delete,dev=dry-run\"."
  type        = string
  default     = "report"
}

variable "cleanup_grace" {
  description = "How old an interface must be before it can be deleted (5m to 24h)."
  type        = string
  default     = "30m"
  validation {
    condition     = can(regex("^([0-9]+(h|m|s|ms))+$|^0$", var.cleanup_grace))
    error_message = "cleanup_grace does not have the form that its description gives."
  }
}

variable "cleanup_cap" {
  description = "How many interfaces a run of eni-cleanup deletes at most (1 to 5000)."
  type        = string
  default     = "1000"
  validation {
    condition     = try(tonumber(var.cleanup_cap) >= 1 && tonumber(var.cleanup_cap) <= 5000, false)
    error_message = "cleanup_cap must be a number from 1 to 5000."
  }
}

variable "cleanup_share" {
  description = "If more than this share of a VPC's interfaces look deletable, in percent (1 to 100), the run deletes none and reports that."
  type        = string
  default     = "50"
  validation {
    condition     = try(tonumber(var.cleanup_share) >= 1 && tonumber(var.cleanup_share) <= 100, false)
    error_message = "cleanup_share must be a number from 1 to 100."
  }
}

variable "cleanup_untagged" {
  description = "VPCs in which interfaces without a cluster tag can be deleted too, separated by commas. aws-node without CLUSTER_NAME creates such interfaces. List a VPC only if all its clusters are watched."
  type        = string
  default     = "none"
  validation {
    condition     = can(regex("^(none|(vpc-[0-9a-f]+)(,(vpc-[0-9a-f]+)){0,9})$", var.cleanup_untagged))
    error_message = "cleanup_untagged does not have the form that its description gives."
  }
}

variable "runway_horizon" {
  description = "How far ahead Rollcall warns that a subnet will run out of addresses (1h to 168h)."
  type        = string
  default     = "24h"
  validation {
    condition     = can(regex("^([0-9]+(h|m|s|ms))+$|^0$", var.runway_horizon))
    error_message = "runway_horizon does not have the form that its description gives."
  }
}

variable "subnet_metrics" {
  description = "\"on\" also writes CloudWatch metrics for each subnet (FreeAddresses, FreeBlocks, LeakedAddresses, RunwayHours; up to $1.20 a month for each subnet). The metrics for each cluster, with its worst subnet, are always written."
  type        = string
  default     = "off"
  validation {
    condition     = contains(["on", "off"], var.subnet_metrics)
    error_message = "subnet_metrics must be one of: on, off."
  }
}

variable "routes" {
  description = "Who is notified of what, separated by commas: \"prod/critical=C0PAGES0001@S0ONCALL01,all/team:payments=C0PAY000001\". Before \"=\" write a cluster (or all), and optionally a severity (critical, warning, info) and nodegroup tags. After it write a channel. After \"@\" write who is paged while the incident is critical: users (U…), user groups (S…) or here, joined by \"+\". After a second \"@\" write who is paged last, if nobody acknowledges (C0PAGES0001@S0ONCALL01@S0LEADS001). The first matching route decides."
  type        = string
  default     = "none"
}

variable "remind_after" {
  description = "How long after the last page the people in a route are paged again for a critical incident that nobody has acknowledged or muted (5m to 24h, 0 for never), three times at most. After that a route can escalate, once."
  type        = string
  default     = "30m"
  validation {
    condition     = can(regex("^([0-9]+(h|m|s|ms))+$|^0$", var.remind_after))
    error_message = "remind_after does not have the form that its description gives."
  }
}

variable "targets" {
  description = "Who is notified of incidents besides Slack, separated by commas. \"sns\" is a topic that the stack creates, for mail; \"sns=\" takes the ARN of your own topic, and \"amazonq=\" the ARN of the topic of an Amazon Q chat channel. \"pagerduty=\", \"jsm=\", \"teams=\", \"slackwebhook=\" and \"webhook=\" take the name of a secret in Secrets Manager: it holds the routing key, the integration's key, the workflow's address, the incoming webhook's address, or address and key. \"pagerduty/critical=rollcall/pagerduty\" receives only incidents that are or become critical. A target without a severity also receives the weekly message (PagerDuty and Jira Service Management never do). See docs/targets.md."
  type        = string
  default     = "none"
}

variable "pagerduty_api_url" {
  description = "Address of PagerDuty's Events API; accounts in its European region use https://events.eu.pagerduty.com."
  type        = string
  default     = "https://events.pagerduty.com"
  validation {
    condition     = can(regex("^https?://.+$", var.pagerduty_api_url))
    error_message = "pagerduty_api_url does not have the form that its description gives."
  }
}

variable "slack_actions" {
  description = "\"on\" deploys slack-actions with a Lambda function URL with AuthType NONE, a public address for Slack's buttons, the command /rollcall and the home page, and shows the buttons. It accepts only requests that Slack has signed."
  type        = string
  default     = "off"
  validation {
    condition     = contains(["on", "off"], var.slack_actions)
    error_message = "slack_actions must be one of: on, off."
  }
}

variable "remedies" {
  description = "What Rollcall is allowed to fix: \"approve\" or \"auto\" for each remedy of each cluster that opts in, separated by commas: \"prod/add-nat-route=approve,prod/replace-instance=auto\". \"prod=approve\" applies to all remedies of prod."
  type        = string
  default     = "off"
}

variable "remedy_vpcs" {
  description = "VPCs in which remedies are allowed to add routes and open endpoints' security groups, separated by commas."
  type        = string
  default     = "none"
  validation {
    condition     = can(regex("^(none|(vpc-[0-9a-f]+)(,(vpc-[0-9a-f]+)){0,9})$", var.remedy_vpcs))
    error_message = "remedy_vpcs does not have the form that its description gives."
  }
}

variable "remedy_roles" {
  description = "Node roles that create-access-entry is allowed to add to clusters: full ARNs, separated by commas, no wildcards. If none is listed, none is added, and create-access-entry=auto is rejected."
  type        = string
  default     = "none"
  validation {
    condition     = can(regex("^(none|(arn:aws[a-z-]*:iam::[0-9]+:role/[A-Za-z0-9_+=.@/-]+)(,(arn:aws[a-z-]*:iam::[0-9]+:role/[A-Za-z0-9_+=.@/-]+)){0,99})$", var.remedy_roles))
    error_message = "remedy_roles does not have the form that its description gives."
  }
}

variable "remedy_limit" {
  description = "How many times an hour a remedy is applied in a cluster, at most (1 to 20). Each replaced instance counts."
  type        = string
  default     = "3"
  validation {
    condition     = try(tonumber(var.remedy_limit) >= 1 && tonumber(var.remedy_limit) <= 20, false)
    error_message = "remedy_limit must be a number from 1 to 20."
  }
}

variable "approvers" {
  description = "Who is allowed to approve and refuse remedies: ids of Slack users (U…, W…) and user groups (S…), separated by commas."
  type        = string
  default     = "none"
}

variable "responders" {
  description = "Who is allowed to acknowledge, mute, silence and request a check in Slack: \"workspace\" (everybody in the app's own workspace or organization), \"channel\" (everybody in the channel, including people from other companies in Slack Connect), or ids of users (U…, W…) and user groups (S…) of that workspace, separated by commas (50 at most). Approvers always are."
  type        = string
  default     = "workspace"
}

variable "approval_time" {
  description = "How long after it was made a remedy's plan can be approved (5m to 24h). After that it can be offered again."
  type        = string
  default     = "1h"
  validation {
    condition     = can(regex("^([0-9]+(h|m|s|ms))+$|^0$", var.approval_time))
    error_message = "approval_time does not have the form that its description gives."
  }
}

variable "decode_denied" {
  description = "\"on\" allows launch-watch and join-check to decode the error of a denied launch (sts:DecodeAuthorizationMessage, which cannot be limited to a resource). The message then names the statement that denied it and the missing tag. Nothing else of the decoded text is kept."
  type        = string
  default     = "off"
  validation {
    condition     = contains(["on", "off"], var.decode_denied)
    error_message = "decode_denied must be one of: on, off."
  }
}

variable "change_names" {
  description = "\"off\" leaves out who made a change: messages, events and records then have the call, the resource, the time and the AWS service in between, but no user, role session or ARN. Whoever presses a button in Slack is still named there, and in the audit records."
  type        = string
  default     = "on"
  validation {
    condition     = contains(["on", "off"], var.change_names)
    error_message = "change_names must be one of: on, off."
  }
}

variable "instance_data" {
  description = "\"off\" takes from all roles the permissions for instances' user data and console output (ec2:DescribeInstanceAttribute, ec2:GetConsoleOutput), which can hold secrets. What only they show is then unknown, and messages say so: why a node's bootstrap script, kubelet or container runtime failed. User data in a launch template is still read, with the template. A spoke's reader loses them only if the spoke is deployed with the same setting (make deploy-spoke SET=instanceData=off); the hub's functions do not use them in either case."
  type        = string
  default     = "on"
  validation {
    condition     = contains(["on", "off"], var.instance_data)
    error_message = "instance_data must be one of: on, off."
  }
}

variable "auto_mode_logs" {
  description = "Log groups that join-check is allowed to search for what EKS Auto Mode logs about nodes that do not join (logs:FilterLogEvents), separated by commas. A \"*\" at the end is a wildcard: \"/aws/vendedlogs/eks/*\". \"off\" reads no log."
  type        = string
  default     = "off"
  validation {
    condition     = can(regex("^(off|([.#A-Za-z0-9_/-]+[*]?)(,([.#A-Za-z0-9_/-]+[*]?)){0,19})$", var.auto_mode_logs))
    error_message = "auto_mode_logs does not have the form that its description gives."
  }
}

variable "evidence" {
  description = "How many days the data that was read for a failed launch or an incident is kept (1 to 365), as a capture in a bucket of the stack, for \"rollcall replay\". \"off\" keeps none, and creates no bucket."
  type        = string
  default     = "30"
  validation {
    condition     = can(regex("^off$|^[0-9]{1,3}$", var.evidence))
    error_message = "evidence does not have the form that its description gives."
  }
}

variable "spokes" {
  description = "Accounts and regions to watch besides the stack's own, separated by commas, each with an optional name to show: \"222233334444/eu-west-1=payments,333344445555/us-west-2\". List the stack's own too if you want to name it."
  type        = string
  default     = "none"
}

variable "external_id" {
  description = "External id that the roles in spokes require from this hub (8 characters or more; not a secret). Required with spokes, and the same in all of them."
  type        = string
  default     = "none"
  validation {
    condition     = can(regex("^none$|^[A-Za-z0-9_+=,.@:/-]{8,}$", var.external_id))
    error_message = "external_id does not have the form that its description gives."
  }
}

variable "relays" {
  description = "Clusters that are read through a relay because they have only a private endpoint, separated by commas: \"prod,222233334444/eu-west-1/prod\". No other relay is used, because anybody who can create Lambda functions can create one with a relay's name. If no cluster of an account and region is listed, relays that were in use before this setting existed keep working for 30 days."
  type        = string
  default     = "none"
}

variable "sweep_concurrency" {
  description = "How many clusters sweep checks at the same time (2 to 50). Each cluster is checked every five minutes, which takes a few seconds: four are enough for 200 clusters, and leave room in an account with a limit of ten concurrent invocations. Raise it if checks come too late (the metric Failures, \"a turn is dropped\" in sweep's log)."
  type        = string
  default     = "4"
  validation {
    condition     = try(tonumber(var.sweep_concurrency) >= 2 && tonumber(var.sweep_concurrency) <= 50, false)
    error_message = "sweep_concurrency must be a number from 2 to 50."
  }
}

variable "kms_key_arn" {
  description = "ARN of a customer key, in the stack's account and region, that encrypts the table, the evidence, queues, log groups, the stack's own topics and the functions' environment. \"none\" uses AWS's own keys. The key's policy must allow what docs/standard.md lists, or the deployment fails. Secrets have their own settings."
  type        = string
  default     = "none"
  validation {
    condition     = can(regex("^none$|^arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key/[A-Za-z0-9-]+$", var.kms_key_arn))
    error_message = "kms_key_arn does not have the form that its description gives."
  }
}

variable "log_level" {
  description = "debug, info, warn or error."
  type        = string
  default     = "info"
  validation {
    condition     = can(regex("^(?i:debug|info|warn|error)([+-][0-9]+)?$", var.log_level))
    error_message = "log_level does not have the form that its description gives."
  }
}

variable "slack_secret_arn" {
  description = "ARN of the Secrets Manager secret whose value is the Slack bot token (xoxb-…). Without it the stack makes an empty secret to fill in."
  type        = string
  default     = ""
  validation {
    condition     = can(regex("^$|^arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:[0-9]{12}:secret:.+-[A-Za-z0-9]{6}$", var.slack_secret_arn))
    error_message = "slack_secret_arn does not have the form that its description gives."
  }
}

variable "slack_signing_secret_arn" {
  description = "ARN of the Secrets Manager secret whose value is the Slack app's signing secret. Without it the stack makes an empty secret to fill in."
  type        = string
  default     = ""
  validation {
    condition     = can(regex("^$|^arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:[0-9]{12}:secret:.+-[A-Za-z0-9]{6}$", var.slack_signing_secret_arn))
    error_message = "slack_signing_secret_arn does not have the form that its description gives."
  }
}

variable "slack_secret_kms_key_arn" {
  description = "ARN of the customer key that encrypts slackSecretArn and slackSigningSecretArn, if there is one; report and slack-actions are then allowed to decrypt with it, through Secrets Manager only."
  type        = string
  default     = ""
  validation {
    condition     = can(regex("^$|^arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key/[A-Za-z0-9-]+$", var.slack_secret_kms_key_arn))
    error_message = "slack_secret_kms_key_arn does not have the form that its description gives."
  }
}

variable "target_secret_kms_key_arn" {
  description = "ARN of the customer key that encrypts the secrets of targets, if there is one; notify-targets is then allowed to decrypt them with it, through Secrets Manager only. The key's policy must allow the account's roles to use it."
  type        = string
  default     = ""
  validation {
    condition     = can(regex("^$|^arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key/[A-Za-z0-9-]+$", var.target_secret_kms_key_arn))
    error_message = "target_secret_kms_key_arn does not have the form that its description gives."
  }
}

variable "kubernetes_access" {
  description = "How join-check, sweep, nodegroup-watch, subnet-watch, zone-watch, remediate and spot-report get read access in clusters: \"group\" (the Kubernetes group rollcall, whose ClusterRole deploy/clusterrole.yaml lists every object that is read; the output ClusterRoleCommand applies it), \"policy\" (EKS access policies AmazonAIOpsAssistantPolicy, which also gives the logs of all pods and every ConfigMap of the cluster, and which AWS may extend, and AmazonEKSViewPolicy for kube-system) or \"none\" (you grant it yourself)."
  type        = string
  default     = "group"
  validation {
    condition     = contains(["group", "policy", "none"], var.kubernetes_access)
    error_message = "kubernetes_access must be one of: group, policy, none."
  }
}

variable "access_clusters" {
  description = "Clusters in which the stack creates the access entry, separated by commas. Unlike the setting of the CDK app it is not filled in from Clusters: list each cluster, but none in authentication mode CONFIG_MAP."
  type        = string
  default     = ""
  validation {
    condition     = can(regex("^(|([0-9A-Za-z][0-9A-Za-z_-]*)(,([0-9A-Za-z][0-9A-Za-z_-]*)){0,39})$", var.access_clusters))
    error_message = "access_clusters does not have the form that its description gives."
  }
}

variable "vpc_subnet_ids" {
  description = "Private subnets in which join-check, sweep, nodegroup-watch, subnet-watch, zone-watch, remediate and spot-report run, separated by commas; preferably two or more, in different zones. An alternative to relays for clusters with only a private endpoint. From these subnets the functions must reach the APIs of EC2, Auto Scaling, EKS, EventBridge, SQS and DynamoDB (with autoModeLogs CloudWatch Logs too) through a NAT gateway or VPC endpoints."
  type        = string
  default     = ""
  validation {
    condition     = can(regex("^(|(subnet-[0-9a-f]+)(,(subnet-[0-9a-f]+)){0,7})$", var.vpc_subnet_ids))
    error_message = "vpc_subnet_ids does not have the form that its description gives."
  }
}

variable "vpc_security_group_ids" {
  description = "Security groups of join-check, sweep, nodegroup-watch, subnet-watch, zone-watch, remediate and spot-report in those subnets, separated by commas. They must allow outbound port 443, and the clusters' security groups must allow inbound port 443 from them."
  type        = string
  default     = ""
  validation {
    condition     = can(regex("^(|(sg-[0-9a-f]+)(,(sg-[0-9a-f]+)){0,4})$", var.vpc_security_group_ids))
    error_message = "vpc_security_group_ids does not have the form that its description gives."
  }
}

variable "alarm_topic_arn" {
  description = "ARN of an SNS topic for alarms, whose policy lets cloudwatch.amazonaws.com publish. Without it the stack creates one without a KMS key: only SNS's own disk encryption applies. If yours has a KMS key, it must be a customer key whose policy allows cloudwatch.amazonaws.com kms:GenerateDataKey* and kms:Decrypt. With the key aws/sns no alarm arrives."
  type        = string
  default     = ""
  validation {
    condition     = can(regex("^$|^arn:aws[a-z-]*:sns:[a-z0-9-]+:[0-9]+:[A-Za-z0-9_-]+$", var.alarm_topic_arn))
    error_message = "alarm_topic_arn does not have the form that its description gives."
  }
}

variable "alarm_email" {
  description = "Address that receives the alarms of the stack's own topic. SNS sends it a request to confirm."
  type        = string
  default     = ""
  validation {
    condition     = can(regex("^$|^[^@]+@[^@]+$", var.alarm_email))
    error_message = "alarm_email does not have the form that its description gives."
  }
}

variable "target_email" {
  description = "Addresses that receive incidents by email, separated by commas: they are subscribed to the topic that the stack creates for targets=sns, and SNS sends each a request to confirm."
  type        = string
  default     = ""
  validation {
    condition     = can(regex("^(|([^@,]+@[^@,]+)(,([^@,]+@[^@,]+)){0,9})$", var.target_email))
    error_message = "target_email does not have the form that its description gives."
  }
}

variable "permissions_boundary" {
  description = "ARN of a managed policy that every role of the stack gets as its permissions boundary, if your organization requires one. The roles can then do only what both their own policies and this policy allow: it must allow what docs/permissions.md lists. In a spoke it is the policy of the same name in the spoke's account."
  type        = string
  default     = ""
  validation {
    condition     = can(regex("^$|^arn:aws[a-z-]*:iam::([0-9]{12}|aws):policy/[A-Za-z0-9_+=,.@/-]+$", var.permissions_boundary))
    error_message = "permissions_boundary does not have the form that its description gives."
  }
}

variable "role_path" {
  description = "Path of every role of the stack, like /teams/platform/, if your organization allows roles only under a path. The roles in spokes have the same path: deploy the spokes again after changing it. In aws-auth a role stands without its path."
  type        = string
  default     = "/"
  validation {
    condition     = can(regex("^/([A-Za-z0-9_+=,.@-]+/)*$", var.role_path))
    error_message = "role_path does not have the form that its description gives."
  }
}

variable "log_retention_days" {
  description = "How long logs are kept, one of the numbers of days that CloudWatch Logs accepts."
  type        = string
  default     = "30"
  validation {
    condition     = contains(["1", "3", "5", "7", "14", "30", "60", "90", "120", "150", "180", "365", "400", "545", "731", "1096", "1827", "2192", "2557", "2922", "3288", "3653"], var.log_retention_days)
    error_message = "log_retention_days must be one of: 1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653."
  }
}

variable "dashboard" {
  description = "\"off\" leaves out the CloudWatch dashboard (launches, joins, addresses left, incidents, Rollcall's own health). An account's first three dashboards are free, and each further one costs $3.00 a month. Opening it searches the log groups ($0.005 a GB)."
  type        = string
  default     = "on"
  validation {
    condition     = contains(["on", "off"], var.dashboard)
    error_message = "dashboard must be one of: on, off."
  }
}

locals {
  # Where each setting stands in the settings file.
  places = {
    accessClusters        = ["kubernetes", "accessClusters"]
    alarmEmail            = ["stack", "alarmEmail"]
    alarmTopicArn         = ["stack", "alarmTopicArn"]
    approvalTime          = ["remediation", "approvalTime"]
    approvers             = ["slack", "approvers"]
    autoModeLogs          = ["launches", "autoModeLogs"]
    changeNames           = ["incidents", "changeNames"]
    cleanup               = ["subnets", "cleanup"]
    cleanupCap            = ["subnets", "cleanupCap"]
    cleanupGrace          = ["subnets", "cleanupGrace"]
    cleanupShare          = ["subnets", "cleanupShare"]
    cleanupUntagged       = ["subnets", "cleanupUntagged"]
    clusters              = ["clusters", ""]
    configMapClusters     = ["kubernetes", "configMapClusters"]
    dashboard             = ["stack", "dashboard"]
    decodeDenied          = ["launches", "decodeDenied"]
    docsUrl               = ["incidents", "docsUrl"]
    evidence              = ["launches", "evidence"]
    externalId            = ["accounts", "externalId"]
    giveUp                = ["launches", "giveUp"]
    instanceData          = ["launches", "instanceData"]
    joinTime              = ["launches", "joinTime"]
    kmsKeyArn             = ["stack", "kmsKeyArn"]
    kubernetesAccess      = ["kubernetes", "access"]
    linkHosts             = ["ownership", "linkHosts"]
    logLevel              = ["stack", "logLevel"]
    logRetentionDays      = ["stack", "logRetentionDays"]
    organization          = ["accounts", "organization"]
    ownerTags             = ["ownership", "ownerTags"]
    owners                = ["ownership", "owners"]
    pagerdutyApiUrl       = ["notifications", "pagerdutyApiUrl"]
    permissionsBoundary   = ["stack", "permissionsBoundary"]
    proofTime             = ["incidents", "proofTime"]
    relays                = ["kubernetes", "relays"]
    remedies              = ["remediation", "remedies"]
    remedyLimit           = ["remediation", "remedyLimit"]
    remedyRoles           = ["remediation", "remedyRoles"]
    remedyVpcs            = ["remediation", "remedyVpcs"]
    remindAfter           = ["notifications", "remindAfter"]
    reopenTime            = ["incidents", "reopenTime"]
    reportHour            = ["notifications", "reportHour"]
    responders            = ["slack", "responders"]
    rolePath              = ["stack", "rolePath"]
    routes                = ["notifications", "routes"]
    runwayHorizon         = ["subnets", "runwayHorizon"]
    slackActions          = ["slack", "buttons"]
    slackApiUrl           = ["slack", "apiUrl"]
    slackChannel          = ["slack", "channel"]
    slackSecretArn        = ["slack", "secretArn"]
    slackSecretKmsKeyArn  = ["slack", "secretKmsKeyArn"]
    slackSigningSecretArn = ["slack", "signingSecretArn"]
    spoke                 = ["accounts", "spoke"]
    spokes                = ["accounts", "spokes"]
    stackName             = ["stack", "name"]
    subnetMetrics         = ["subnets", "subnetMetrics"]
    sweepConcurrency      = ["stack", "sweepConcurrency"]
    targetEmail           = ["notifications", "targetEmail"]
    targetSecretKmsKeyArn = ["notifications", "targetSecretKmsKeyArn"]
    targets               = ["notifications", "targets"]
    vpcSecurityGroupIds   = ["kubernetes", "securityGroupIds"]
    vpcSubnetIds          = ["kubernetes", "subnetIds"]
    weekly                = ["notifications", "weekly"]
  }

  # What the variables say of each setting.
  variables = {
    clusters              = var.clusters
    slackChannel          = var.slack_channel
    slackApiUrl           = var.slack_api_url
    docsUrl               = var.docs_url
    ownerTags             = var.owner_tags
    owners                = var.owners
    linkHosts             = var.link_hosts
    joinTime              = var.join_time
    giveUp                = var.give_up
    proofTime             = var.proof_time
    reopenTime            = var.reopen_time
    reportHour            = var.report_hour
    weekly                = var.weekly
    cleanup               = var.cleanup
    cleanupGrace          = var.cleanup_grace
    cleanupCap            = var.cleanup_cap
    cleanupShare          = var.cleanup_share
    cleanupUntagged       = var.cleanup_untagged
    runwayHorizon         = var.runway_horizon
    subnetMetrics         = var.subnet_metrics
    routes                = var.routes
    remindAfter           = var.remind_after
    targets               = var.targets
    pagerdutyApiUrl       = var.pagerduty_api_url
    slackActions          = var.slack_actions
    remedies              = var.remedies
    remedyVpcs            = var.remedy_vpcs
    remedyRoles           = var.remedy_roles
    remedyLimit           = var.remedy_limit
    approvers             = var.approvers
    responders            = var.responders
    approvalTime          = var.approval_time
    decodeDenied          = var.decode_denied
    changeNames           = var.change_names
    instanceData          = var.instance_data
    autoModeLogs          = var.auto_mode_logs
    evidence              = var.evidence
    spokes                = var.spokes
    externalId            = var.external_id
    relays                = var.relays
    sweepConcurrency      = var.sweep_concurrency
    kmsKeyArn             = var.kms_key_arn
    logLevel              = var.log_level
    slackSecretArn        = var.slack_secret_arn
    slackSigningSecretArn = var.slack_signing_secret_arn
    slackSecretKmsKeyArn  = var.slack_secret_kms_key_arn
    targetSecretKmsKeyArn = var.target_secret_kms_key_arn
    kubernetesAccess      = var.kubernetes_access
    accessClusters        = var.access_clusters
    vpcSubnetIds          = var.vpc_subnet_ids
    vpcSecurityGroupIds   = var.vpc_security_group_ids
    alarmTopicArn         = var.alarm_topic_arn
    alarmEmail            = var.alarm_email
    targetEmail           = var.target_email
    permissionsBoundary   = var.permissions_boundary
    rolePath              = var.role_path
    logRetentionDays      = var.log_retention_days
    dashboard             = var.dashboard
  }

  # The parameters that are settings as they are.
  plain = {
    Clusters              = local.settings.clusters
    SlackChannel          = local.settings.slackChannel
    SlackApiUrl           = local.settings.slackApiUrl
    DocsUrl               = local.settings.docsUrl
    OwnerTags             = local.settings.ownerTags
    Owners                = local.settings.owners
    LinkHosts             = local.settings.linkHosts
    JoinTime              = local.settings.joinTime
    GiveUp                = local.settings.giveUp
    ProofTime             = local.settings.proofTime
    ReopenTime            = local.settings.reopenTime
    ReportHour            = local.settings.reportHour
    Weekly                = local.settings.weekly
    Cleanup               = local.settings.cleanup
    CleanupGrace          = local.settings.cleanupGrace
    CleanupCap            = local.settings.cleanupCap
    CleanupShare          = local.settings.cleanupShare
    CleanupUntagged       = local.settings.cleanupUntagged
    RunwayHorizon         = local.settings.runwayHorizon
    SubnetMetrics         = local.settings.subnetMetrics
    Routes                = local.settings.routes
    RemindAfter           = local.settings.remindAfter
    Targets               = local.settings.targets
    PagerdutyApiUrl       = local.settings.pagerdutyApiUrl
    SlackActions          = local.settings.slackActions
    Remedies              = local.settings.remedies
    RemedyVpcs            = local.settings.remedyVpcs
    RemedyRoles           = local.settings.remedyRoles
    RemedyLimit           = local.settings.remedyLimit
    Approvers             = local.settings.approvers
    Responders            = local.settings.responders
    ApprovalTime          = local.settings.approvalTime
    DecodeDenied          = local.settings.decodeDenied
    ChangeNames           = local.settings.changeNames
    InstanceData          = local.settings.instanceData
    AutoModeLogs          = local.settings.autoModeLogs
    Evidence              = local.settings.evidence
    Spokes                = local.settings.spokes
    ExternalId            = local.settings.externalId
    Relays                = local.settings.relays
    SweepConcurrency      = local.settings.sweepConcurrency
    KmsKeyArn             = local.settings.kmsKeyArn
    LogLevel              = local.settings.logLevel
    SlackSecretArn        = local.settings.slackSecretArn
    SlackSigningSecretArn = local.settings.slackSigningSecretArn
    SlackSecretKmsKeyArn  = local.settings.slackSecretKmsKeyArn
    TargetSecretKmsKeyArn = local.settings.targetSecretKmsKeyArn
    KubernetesAccess      = local.settings.kubernetesAccess
    AccessClusters        = local.settings.accessClusters
    VpcSubnetIds          = local.settings.vpcSubnetIds
    VpcSecurityGroupIds   = local.settings.vpcSecurityGroupIds
    AlarmTopicArn         = local.settings.alarmTopicArn
    AlarmEmail            = local.settings.alarmEmail
    TargetEmail           = local.settings.targetEmail
    PermissionsBoundary   = local.settings.permissionsBoundary
    RolePath              = local.settings.rolePath
    LogRetentionDays      = local.settings.logRetentionDays
    Dashboard             = local.settings.dashboard
  }
}
