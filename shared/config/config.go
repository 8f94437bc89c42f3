// Package config holds every setting of the functions: its name, its bounds,
// its default and what it means. Nothing else reads the environment.
package config

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"rollcall/shared/lazyregexp"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/routing"
	"rollcall/shared/spec"
	"rollcall/shared/spoke"
	"rollcall/shared/target"
)

// The environment variables. infra sets the addresses; an operator sets the
// others as CDK context (README, "Deploy").
const (
	Clusters         spec.Variable = "ROLLCALL_CLUSTERS"
	Channel          spec.Variable = "ROLLCALL_SLACK_CHANNEL"
	SlackSecretARN   spec.Variable = "ROLLCALL_SLACK_SECRET_ARN"
	SlackAPI         spec.Variable = "ROLLCALL_SLACK_API_URL"
	DocsURL          spec.Variable = "ROLLCALL_DOCS_URL"
	OwnerTags        spec.Variable = "ROLLCALL_OWNER_TAGS"
	Owners           spec.Variable = "ROLLCALL_OWNERS"
	LinkHosts        spec.Variable = "ROLLCALL_LINK_HOSTS"
	JoinTime         spec.Variable = "ROLLCALL_JOIN_TIME"
	GiveUp           spec.Variable = "ROLLCALL_GIVE_UP"
	ProofTime        spec.Variable = "ROLLCALL_PROOF_TIME"
	ReopenTime       spec.Variable = "ROLLCALL_REOPEN_TIME"
	ReportHour       spec.Variable = "ROLLCALL_REPORT_HOUR"
	WeeklyAt         spec.Variable = "ROLLCALL_WEEKLY"
	Cleanup          spec.Variable = "ROLLCALL_CLEANUP"
	CleanupGrace     spec.Variable = "ROLLCALL_CLEANUP_GRACE"
	CleanupCap       spec.Variable = "ROLLCALL_CLEANUP_CAP"
	CleanupShare     spec.Variable = "ROLLCALL_CLEANUP_SHARE"
	CleanupUntagged  spec.Variable = "ROLLCALL_CLEANUP_UNTAGGED"
	RunwayHorizon    spec.Variable = "ROLLCALL_RUNWAY_HORIZON"
	SubnetMetrics    spec.Variable = "ROLLCALL_SUBNET_METRICS"
	Routes           spec.Variable = "ROLLCALL_ROUTES"
	RemindAfter      spec.Variable = "ROLLCALL_REMIND_AFTER"
	SlackActions     spec.Variable = "ROLLCALL_SLACK_ACTIONS"
	DecodeDenied     spec.Variable = "ROLLCALL_DECODE_DENIED"
	ChangeNames      spec.Variable = "ROLLCALL_CHANGE_NAMES"
	InstanceData     spec.Variable = "ROLLCALL_INSTANCE_DATA"
	AutoModeLogs     spec.Variable = "ROLLCALL_AUTO_MODE_LOGS"
	SigningARN       spec.Variable = "ROLLCALL_SLACK_SIGNING_SECRET_ARN"
	Remedies         spec.Variable = "ROLLCALL_REMEDIES"
	RemedyVPCs       spec.Variable = "ROLLCALL_REMEDY_VPCS"
	RemedyRoles      spec.Variable = "ROLLCALL_REMEDY_ROLES"
	RemedyLimit      spec.Variable = "ROLLCALL_REMEDY_LIMIT"
	SweepConcurrency spec.Variable = "ROLLCALL_SWEEP_CONCURRENCY"
	WhoResponds      spec.Variable = "ROLLCALL_RESPONDERS"
	Approvers        spec.Variable = "ROLLCALL_APPROVERS"
	ApprovalTime     spec.Variable = "ROLLCALL_APPROVAL_TIME"
	Targets          spec.Variable = "ROLLCALL_TARGETS"
	PagerDutyAPI     spec.Variable = "ROLLCALL_PAGERDUTY_API_URL"
	LogLevel         spec.Variable = "ROLLCALL_LOG_LEVEL"
	ReaderRole       spec.Variable = "ROLLCALL_READER_ROLE"
	Spokes           spec.Variable = "ROLLCALL_SPOKES"
	ExternalID       spec.Variable = "ROLLCALL_EXTERNAL_ID"
	HubAccount       spec.Variable = "ROLLCALL_ACCOUNT"
	RolePrefix       spec.Variable = "ROLLCALL_ROLE_PREFIX"
	TableName        spec.Variable = "ROLLCALL_TABLE"
	BusName          spec.Variable = "ROLLCALL_BUS"
	JoinQueueURL     spec.Variable = "ROLLCALL_JOIN_QUEUE_URL"
	ResultQueueURL   spec.Variable = "ROLLCALL_RESULT_QUEUE_URL"
	ResultDeadURL    spec.Variable = "ROLLCALL_RESULT_DEAD_URL"

	NodegroupQueueURL spec.Variable = "ROLLCALL_NODEGROUP_QUEUE_URL"
	ChangeQueueURL    spec.Variable = "ROLLCALL_CHANGE_QUEUE_URL"
	RemedyQueueURL    spec.Variable = "ROLLCALL_REMEDY_QUEUE_URL"
	SweepQueueURL     spec.Variable = "ROLLCALL_SWEEP_QUEUE_URL"

	TargetQueueURL spec.Variable = "ROLLCALL_TARGET_QUEUE_URL"
	TargetDeadURL  spec.Variable = "ROLLCALL_TARGET_DEAD_URL"
	TargetTopicARN spec.Variable = "ROLLCALL_TARGET_TOPIC_ARN"

	KMSKey         spec.Variable = "ROLLCALL_KMS_KEY"
	Relays         spec.Variable = "ROLLCALL_RELAYS"
	Evidence       spec.Variable = "ROLLCALL_EVIDENCE"
	EvidenceBucket spec.Variable = "ROLLCALL_EVIDENCE_BUCKET"
)

// Setting documents one variable that an operator may set. The README's table
// and the CDK app are made from this list.
type Setting struct {
	Variable spec.Variable
	// Context is the CDK context key that sets it.
	Context string
	Default string
	About   string
}

// DefaultOwnerTags are usual tags (docs.aws.amazon.com/whitepapers/latest/tagging-best-practices)
// and labels (kubernetes.io/docs/concepts/overview/working-with-objects/common-labels).
const DefaultOwnerTags = "team=team+owner,service=service+app.kubernetes.io/part-of+app.kubernetes.io/name+application,runbook=runbook+runbook-url,dashboard=dashboard+dashboard-url"

// Settings are what an operator can set, in the order of the README.
func Settings() []Setting {
	return []Setting{
		{Clusters, "clusters", "all", `Clusters to watch: "all" in this region, or names separated by commas. A spoke's cluster is named with its account and region (222233334444/eu-west-1/prod), here and in other settings. If none of a spoke's clusters is named, all of them are watched.`},
		{Channel, "slackChannel", "", "Id of the Slack channel, like C0123456789. Required unless the setting targets is set: then \"none\", or leaving it out, runs Rollcall without a Slack app."},
		{SlackSecretARN, "slackSecretArn", "", "ARN of the Secrets Manager secret whose value is the Slack bot token (xoxb-…). Without it the stack makes an empty secret to fill in."},
		{SlackAPI, "slackApiUrl", "https://slack.com/api/", "Address of Slack's Web API; GovSlack has another one."},
		{DocsURL, "docsUrl", "none", `Where you serve the site that "make site" builds, like https://docs.example.com/rollcall/: the check in a message then links to its page. "none" means no link. If nothing is set, the functions of a release that names its repository (make deploy PREBUILT=…) link to its pages on GitHub.`},
		{OwnerTags, "ownerTags", DefaultOwnerTags, `Labels and tags that name an owner. For each field, list the names to try in order, joined by "+": "team=team+owner,runbook=runbook". They are read from nodegroups, NodePools and their classes, Auto Scaling groups, subnets, the VPC and the cluster. Capitals do not matter.`},
		{Owners, "owners", "none", `Team, service, runbook and dashboard where no label or tag names them, separated by commas: "all/team=platform,prod/runbook=https://wiki.example.com/prod". Before "/" write a cluster, or all. Write a comma in a value as %2C.`},
		{LinkHosts, "linkHosts", "none", `Hosts that a runbook or dashboard address from a label or tag can link to, separated by commas: "wiki.example.com,*.grafana.net". Anybody who can tag a subnet can write such an address, so other hosts are shown as plain text. Addresses in the setting owners always link.`},
		{JoinTime, "joinTime", "5m", "How long after its launch an instance should be a Ready node (1m to 15m), until 20 launches of its nodegroup have joined. From then on the limit is learned from their join times (the 95th percentile plus a margin)."},
		{GiveUp, "giveUp", "2h", "How long an instance that has not joined is rechecked (10m to 24h)."},
		{ProofTime, "proofTime", "1h", "How long an incident whose cause is gone stays open for a new node to confirm it (10m to 24h)."},
		{ReopenTime, "reopenTime", "24h", "An incident that comes back within this time reopens its message instead of posting a new one (0 to 168h)."},
		{ReportHour, "reportHour", "8", "Hour of the day (UTC, 0 to 23) of the daily Spot report, which covers the 24 hours before."},
		{WeeklyAt, "weekly", "Mon/08:00", `Day and hour (UTC) of the weekly message: "Fri/15:00", or "off". It covers all clusters and the seven days before that day: launches, incidents, open incidents, what could not be checked.`},
		{Cleanup, "cleanup", "report", `What eni-cleanup does with network interfaces that terminated nodes left: "report" (only report them), or a mode for each cluster that opts in, separated by commas: "prod=delete,dev=dry-run".`},
		{CleanupGrace, "cleanupGrace", "30m", "How old an interface must be before it can be deleted (5m to 24h)."},
		{CleanupCap, "cleanupCap", "1000", "How many interfaces a run of eni-cleanup deletes at most (1 to 5000)."},
		{CleanupShare, "cleanupShare", "50", "If more than this share of a VPC's interfaces look deletable, in percent (1 to 100), the run deletes none and reports that."},
		{CleanupUntagged, "cleanupUntagged", "none", `VPCs in which interfaces without a cluster tag can be deleted too, separated by commas. aws-node without CLUSTER_NAME creates such interfaces. List a VPC only if all its clusters are watched.`},
		{RunwayHorizon, "runwayHorizon", "24h", "How far ahead Rollcall warns that a subnet will run out of addresses (1h to 168h)."},
		{SubnetMetrics, "subnetMetrics", "off", `"on" also writes CloudWatch metrics for each subnet (FreeAddresses, FreeBlocks, LeakedAddresses, RunwayHours; up to $1.20 a month for each subnet). The metrics for each cluster, with its worst subnet, are always written.`},
		{Routes, "routes", routing.None, `Who is notified of what, separated by commas: "prod/critical=C0PAGES0001@S0ONCALL01,all/team:payments=C0PAY000001". Before "=" write a cluster (or all), and optionally a severity (critical, warning, info) and nodegroup tags. After it write a channel. After "@" write who is paged while the incident is critical: users (U…), user groups (S…) or here, joined by "+". After a second "@" write who is paged last, if nobody acknowledges (C0PAGES0001@S0ONCALL01@S0LEADS001). The first matching route decides.`},
		{RemindAfter, "remindAfter", "30m", "How long after the last page the people in a route are paged again for a critical incident that nobody has acknowledged or muted (5m to 24h, 0 for never), three times at most. After that a route can escalate, once."},
		{Targets, "targets", target.None, `Who is notified of incidents besides Slack, separated by commas. "sns" is a topic that the stack creates, for mail; "sns=" takes the ARN of your own topic, and "amazonq=" the ARN of the topic of an Amazon Q chat channel. "pagerduty=", "jsm=", "teams=", "slackwebhook=" and "webhook=" take the name of a secret in Secrets Manager: it holds the routing key, the integration's key, the workflow's address, the incoming webhook's address, or address and key. "pagerduty/critical=rollcall/pagerduty" receives only incidents that are or become critical. A target without a severity also receives the weekly message (PagerDuty and Jira Service Management never do). See docs/targets.md.`},
		{PagerDutyAPI, "pagerdutyApiUrl", "https://events.pagerduty.com", `Address of PagerDuty's Events API; accounts in its European region use https://events.eu.pagerduty.com.`},
		{SlackActions, "slackActions", "off", `"on" deploys slack-actions with a Lambda function URL with AuthType NONE, a public address for Slack's buttons, the command /rollcall and the home page, and shows the buttons. It accepts only requests that Slack has signed.`},
		{SigningARN, "slackSigningSecretArn", "", "ARN of the Secrets Manager secret whose value is the Slack app's signing secret. Without it the stack makes an empty secret to fill in."},
		{Remedies, "remedies", "off", `What Rollcall is allowed to fix: "approve" or "auto" for each remedy of each cluster that opts in, separated by commas: "prod/add-nat-route=approve,prod/replace-instance=auto". "prod=approve" applies to all remedies of prod.`},
		{RemedyVPCs, "remedyVpcs", "none", "VPCs in which remedies are allowed to add routes and open endpoints' security groups, separated by commas."},
		{RemedyRoles, "remedyRoles", "none", `Node roles that create-access-entry is allowed to add to clusters: full ARNs, separated by commas, no wildcards. If none is listed, none is added, and create-access-entry=auto is rejected.`},
		{RemedyLimit, "remedyLimit", "3", "How many times an hour a remedy is applied in a cluster, at most (1 to 20). Each replaced instance counts."},
		{Approvers, "approvers", "none", "Who is allowed to approve and refuse remedies: ids of Slack users (U…, W…) and user groups (S…), separated by commas."},
		{WhoResponds, "responders", "workspace", `Who is allowed to acknowledge, mute, silence and request a check in Slack: "workspace" (everybody in the app's own workspace or organization), "channel" (everybody in the channel, including people from other companies in Slack Connect), or ids of users (U…, W…) and user groups (S…) of that workspace, separated by commas (50 at most). Approvers always are.`},
		{ApprovalTime, "approvalTime", "1h", "How long after it was made a remedy's plan can be approved (5m to 24h). After that it can be offered again."},
		{DecodeDenied, "decodeDenied", "off", `"on" allows launch-watch and join-check to decode the error of a denied launch (sts:DecodeAuthorizationMessage, which cannot be limited to a resource). The message then names the statement that denied it and the missing tag. Nothing else of the decoded text is kept.`},
		{ChangeNames, "changeNames", "on", `"off" leaves out who made a change: messages, events and records then have the call, the resource, the time and the AWS service in between, but no user, role session or ARN. Whoever presses a button in Slack is still named there, and in the audit records.`},
		{InstanceData, "instanceData", "on", `"off" takes from all roles the permissions for instances' user data and console output (ec2:DescribeInstanceAttribute, ec2:GetConsoleOutput), which can hold secrets. What only they show is then unknown, and messages say so: why a node's bootstrap script, kubelet or container runtime failed. User data in a launch template is still read, with the template. A spoke's reader loses them only if the spoke is deployed with the same setting (make deploy-spoke SET=instanceData=off); the hub's functions do not use them in either case.`},
		{AutoModeLogs, "autoModeLogs", "off", `Log groups that join-check is allowed to search for what EKS Auto Mode logs about nodes that do not join (logs:FilterLogEvents), separated by commas. A "*" at the end is a wildcard: "/aws/vendedlogs/eks/*". "off" reads no log.`},
		{Evidence, "evidence", "30", `How many days the data that was read for a failed launch or an incident is kept (1 to 365), as a capture in a bucket of the stack, for "rollcall replay". "off" keeps none, and creates no bucket.`},
		{Spokes, "spokes", "none", `Accounts and regions to watch besides the stack's own, separated by commas, each with an optional name to show: "222233334444/eu-west-1=payments,333344445555/us-west-2". List the stack's own too if you want to name it.`},
		{ExternalID, "externalId", "none", "External id that the roles in spokes require from this hub (8 characters or more; not a secret). Required with spokes, and the same in all of them."},
		{Relays, "relays", "none", `Clusters that are read through a relay because they have only a private endpoint, separated by commas: "prod,222233334444/eu-west-1/prod". No other relay is used, because anybody who can create Lambda functions can create one with a relay's name. If no cluster of an account and region is listed, relays that were in use before this setting existed keep working for 30 days.`},
		{SweepConcurrency, "sweepConcurrency", "4", "How many clusters sweep checks at the same time (2 to 50). Each cluster is checked every five minutes, which takes a few seconds: four are enough for 200 clusters, and leave room in an account with a limit of ten concurrent invocations. Raise it if checks come too late (the metric Failures, \"a turn is dropped\" in sweep's log)."},
		{KMSKey, "kmsKeyArn", "none", `ARN of a customer key, in the stack's account and region, that encrypts the table, the evidence, queues, log groups, the stack's own topics and the functions' environment. "none" uses AWS's own keys. The key's policy must allow what docs/standard.md lists, or the deployment fails. Secrets have their own settings.`},
		{LogLevel, "logLevel", "info", "debug, info, warn or error."},
	}
}

// Config are the functions' settings, read of their environment.
type Config struct {
	// Clusters is nil when every cluster of the region is watched.
	Clusters       []string
	Channel        string
	SlackSecretARN string
	SlackAPI       string
	// DocsURL is the address of the documentation's site; empty for none.
	DocsURL string
	// Owners are OwnerTags, Owners and LinkHosts as they are written: ownership.Parse reads them.
	Owners     map[spec.Variable]string
	JoinTime   time.Duration
	GiveUp     time.Duration
	ProofTime  time.Duration
	ReopenTime time.Duration
	ReportHour int // of the day, UTC
	// Weekly is when the weekly message is due; nil for never.
	Weekly *Weekly
	// Cleanups are the modes of those clusters that do more than report.
	Cleanups     map[string]CleanupMode
	CleanupGrace time.Duration
	CleanupCap   int
	CleanupShare int // percent
	// CleanupUntagged are VPCs.
	CleanupUntagged []string
	RunwayHorizon   time.Duration
	// SubnetMetrics is set where there are metrics of each subnet, beside those of
	// each cluster.
	SubnetMetrics bool
	// Routes tell who hears of which incident.
	Routes []routing.Route
	// RemindAfter is 0 for never.
	RemindAfter time.Duration
	// SlackActions is set where messages have buttons.
	SlackActions bool
	// DecodeDenied is set where encoded authorization messages are decoded.
	DecodeDenied bool
	// ChangeNames is set where who made a change is reported.
	ChangeNames bool
	// NoInstanceData is set where user data and console output of instances are not read.
	NoInstanceData bool
	// AutoModeLogs are the log groups that may be read: names, or how they begin and
	// a star. None is off.
	AutoModeLogs LogGroups
	SigningARN   string
	// Remedied are the policies by cluster and remedy; what is not in it is off.
	Remedied   map[string]map[optin.Remedy]optin.Policy
	RemedyVPCs []string
	// RemedyRoles are ARNs.
	RemedyRoles []string
	RemedyLimit int
	// SweepConcurrency is how many clusters are swept at once.
	SweepConcurrency int
	Approvers        []string
	Responders       Responders
	ApprovalTime     time.Duration
	LogLevel         slog.Level
	// ReaderRole is the ARN of the role that the clusters know; "" is the function's own.
	ReaderRole     string
	TableName      string
	BusName        string
	JoinQueueURL   string
	ResultQueueURL string
	ResultDeadURL  string

	// Targets hear of incidents besides Slack.
	Targets      []target.Target
	PagerDutyAPI string
	// TargetTopic is the ARN of the stack's topic; empty where it has none.
	TargetTopic    string
	TargetQueueURL string
	TargetDeadURL  string

	NodegroupQueueURL string
	ChangeQueueURL    string
	RemedyQueueURL    string
	SweepQueueURL     string

	// EvidenceDays is 0 where no evidence is kept, and EvidenceBucket empty.
	EvidenceDays   int
	EvidenceBucket string
	// KMSKey is the ARN of the key that encrypts the evidence; "" is S3's own.
	KMSKey string

	Relay
	Region string
	// Hub is the stack's own account and region. Without an account (where no stack says
	// it) everything is the hub's own.
	Hub spoke.ID
	// Spoke is whom this configuration is of: see In.
	Spoke      spoke.ID
	Spokes     []Spoke
	ExternalID string
	// RolePrefix begins the names of the roles of spokes, which are under RolePath.
	RolePrefix, RolePath string
	// Clock is the stage's clock; the zero Clock is the wall clock.
	Clock Clock
	// Endpoints are the stage's ways to the clusters; nil outside the stage.
	Endpoints EndpointOverrides
}

func (c *Config) set(v spec.Variable, text string) (err error) {
	switch v {
	case Clusters:
		c.Clusters, err = parseClusters(text)
	case Channel:
		c.Channel, err = parseChannel(text)
	case SlackSecretARN:
		c.SlackSecretARN, err = required(text)
	case SlackAPI:
		c.SlackAPI, err = parseURL(text)
	case DocsURL:
		c.DocsURL, err = parseDocsURL(text)
	case OwnerTags, Owners, LinkHosts:
		if c.Owners == nil {
			c.Owners = map[spec.Variable]string{}
		}
		c.Owners[v] = text
	case JoinTime:
		c.JoinTime, err = parseDuration(text, time.Minute, 15*time.Minute)
	case GiveUp:
		most := 24 * time.Hour
		if c.Clock != (Clock{}) {
			most = math.MaxInt64 // the stage may look at what was taken long ago
		}
		c.GiveUp, err = parseDuration(text, 10*time.Minute, most)
	case ProofTime:
		c.ProofTime, err = parseDuration(text, 10*time.Minute, 24*time.Hour)
	case ReopenTime:
		c.ReopenTime, err = parseDuration(text, 0, 168*time.Hour)
	case ReportHour:
		c.ReportHour, err = parseHour(text)
	case WeeklyAt:
		c.Weekly, err = parseWeekly(text)
	case Cleanup:
		c.Cleanups, err = parseCleanup(text)
	case CleanupGrace:
		c.CleanupGrace, err = parseDuration(text, 5*time.Minute, 24*time.Hour)
	case CleanupCap:
		c.CleanupCap, err = parseNumber(text, 1, 5000)
	case CleanupShare:
		c.CleanupShare, err = parseNumber(text, 1, 100)
	case CleanupUntagged:
		c.CleanupUntagged, err = parseVPCs(text)
	case RunwayHorizon:
		c.RunwayHorizon, err = parseDuration(text, time.Hour, 168*time.Hour)
	case SubnetMetrics:
		c.SubnetMetrics, err = parseSwitch(text)
	case Routes:
		c.Routes, err = routing.Parse(text)
	case RemindAfter:
		c.RemindAfter, err = parseReminder(text)
	case Targets:
		c.Targets, err = target.Parse(text)
	case PagerDutyAPI:
		c.PagerDutyAPI, err = parseURL(text)
	case SlackActions:
		c.SlackActions, err = parseSwitch(text)
	case DecodeDenied:
		c.DecodeDenied, err = parseSwitch(text)
	case ChangeNames:
		c.ChangeNames, err = parseSwitch(text)
	case InstanceData:
		var on bool
		on, err = parseSwitch(text)
		c.NoInstanceData = !on
	case AutoModeLogs:
		c.AutoModeLogs, err = parseLogGroups(text)
	case SigningARN:
		c.SigningARN, err = required(text)
	case Remedies:
		c.Remedied, err = parseRemedies(text)
	case RemedyVPCs:
		c.RemedyVPCs, err = parseVPCs(text)
	case RemedyRoles:
		c.RemedyRoles, err = parseRoles(text)
	case SweepConcurrency:
		c.SweepConcurrency, err = parseNumber(text, 2, 50)
	case RemedyLimit:
		c.RemedyLimit, err = parseNumber(text, 1, 20)
	case Approvers:
		c.Approvers, err = parseApprovers(text)
	case WhoResponds:
		c.Responders, err = parseResponders(text)
	case ApprovalTime:
		c.ApprovalTime, err = parseDuration(text, 5*time.Minute, 24*time.Hour)
	case Relays:
		c.Relays, err = parseRelays(text)
	case Evidence:
		c.EvidenceDays, err = parseDays(text)
	case EvidenceBucket:
		c.EvidenceBucket = text
	case KMSKey:
		c.KMSKey, err = parseKey(text)
	case LogLevel:
		err = c.LogLevel.UnmarshalText([]byte(text))
	case ReaderRole:
		c.ReaderRole = text
	case Spokes:
		c.Spokes, err = parseSpokes(text)
	case ExternalID:
		c.ExternalID, err = parseExternalID(text)
	case HubAccount:
		c.Hub.Account = text
	case RolePrefix:
		i := strings.LastIndex(text, "/") + 1
		c.RolePath, c.RolePrefix = text[:i], text[i:]
	case TableName:
		c.TableName, err = required(text)
	case BusName:
		c.BusName, err = required(text)
	case JoinQueueURL:
		c.JoinQueueURL, err = parseURL(text)
	case ResultQueueURL:
		c.ResultQueueURL, err = parseURL(text)
	case ResultDeadURL:
		c.ResultDeadURL, err = parseURL(text)
	case NodegroupQueueURL:
		c.NodegroupQueueURL, err = parseURL(text)
	case ChangeQueueURL:
		c.ChangeQueueURL, err = parseURL(text)
	case RemedyQueueURL:
		c.RemedyQueueURL, err = parseURL(text)
	case SweepQueueURL:
		c.SweepQueueURL, err = parseURL(text)
	case TargetQueueURL:
		c.TargetQueueURL, err = parseURL(text)
	case TargetDeadURL:
		c.TargetDeadURL, err = parseURL(text)
	case TargetTopicARN:
		c.TargetTopic = text
	default:
		err = c.setRelay(v, text)
	}
	return err
}

// Watches reports whether a cluster is among those that the operator chose.
func (c Config) Watches(cluster string) bool {
	return c.Clusters == nil || slices.Contains(c.Clusters, cluster)
}

func defaultOf(v spec.Variable) string {
	for _, s := range Settings() {
		if s.Variable == v {
			return s.Default
		}
	}
	return ""
}

// CleanupMode is what eni-cleanup does with interfaces that are left behind.
type CleanupMode string

// The modes.
const (
	Report CleanupMode = "report"  // say so
	DryRun CleanupMode = "dry-run" // ask EC2 whether they could be deleted, with its own DryRun
	Delete CleanupMode = "delete"
)

// CleanupOf is the mode of a cluster.
func (c Config) CleanupOf(cluster string) CleanupMode {
	if mode, ok := c.Cleanups[cluster]; ok {
		return mode
	}
	return Report
}

// parseCleanup reads "report", or the modes of clusters by name. There is no way
// to have all clusters deleted in: each opts in.
func parseCleanup(text string) (map[string]CleanupMode, error) {
	if text == string(Report) {
		return nil, nil
	}
	modes := map[string]CleanupMode{}
	for pair := range strings.SplitSeq(text, ",") {
		cluster, mode, ok := strings.Cut(strings.TrimSpace(pair), "=")
		m := CleanupMode(mode)
		switch {
		case !ok:
			return nil, fmt.Errorf("%q is neither %q nor of the form cluster=mode", pair, Report)
		case !isCluster(cluster):
			return nil, fmt.Errorf("%q is not a cluster name", cluster)
		case m != Report && m != DryRun && m != Delete:
			return nil, fmt.Errorf("%q is not a mode: report, dry-run or delete", mode)
		}
		if known, twice := modes[cluster]; twice && known != m {
			return nil, fmt.Errorf("cluster %s has two modes, %s and %s", cluster, known, m)
		}
		modes[cluster] = m
	}
	return modes, nil
}

func parseNumber(text string, least, most int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("%q is not a number from %d to %d", text, least, most)
	}
	return n, nil
}

func parseVPCs(text string) ([]string, error) {
	if text == "none" {
		return nil, nil
	}
	form := regexp.MustCompile(`^vpc-[0-9a-f]{8,17}$`)
	var ids []string
	for id := range strings.SplitSeq(text, ",") {
		id = strings.TrimSpace(id)
		if !form.MatchString(id) {
			return nil, fmt.Errorf("%q is not the id of a VPC", id)
		}
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// StageClock makes a function live in the time of the local stage, where an
// hour may pass in a minute. A deployment never sets it; a test over the
// template holds that.
const StageClock spec.Variable = "ROLLCALL_STAGE_CLOCK"

// Clock tells the time. The zero Clock is the wall clock.
type Clock struct {
	stage time.Time // the stage's time at anchor
	wall  time.Time
	rate  float64
	// follows holds the other three while a function works: a stage that is fast only
	// while all wait writes them before it wakes one.
	follows *os.File
}

// Now is the time, in UTC.
func (c Clock) Now() time.Time {
	c = c.line()
	if c.rate == 0 {
		return time.Now().UTC()
	}
	passed := time.Since(c.wall)
	return c.stage.Add(time.Duration(float64(passed) * c.rate)).UTC()
}

// line is the line on which the time runs now. It is the wall's where the stage is
// gone: no process is left to publish a time.
func (c Clock) line() Clock {
	if c.follows == nil {
		return c
	}
	var b [24]byte
	if _, err := c.follows.ReadAt(b[:], 0); err != nil {
		return Clock{}
	}
	at := func(i int) uint64 { return binary.LittleEndian.Uint64(b[i:]) }
	return Clock{stage: time.Unix(0, int64(at(0))), wall: time.Unix(0, int64(at(8))), rate: math.Float64frombits(at(16))}
}

// Slower tells a stage's time that runs slower than the wall's, where a wait of a second
// may be one of minutes.
func (c Clock) Slower() bool {
	c = c.line()
	return c.rate > 0 && c.rate < 1
}

// Sleep waits for so long, or until the context ends, whose error it gives then.
func (c Clock) Sleep(ctx context.Context, d time.Duration) error {
	if c = c.line(); c.rate > 0 {
		d = time.Duration(float64(d) / c.rate)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

func parseClock(text string) (Clock, error) {
	if text == "" {
		return Clock{}, nil
	}
	if path, ok := strings.CutPrefix(text, "@"); ok {
		file, err := os.Open(path)
		if err != nil {
			return Clock{}, fmt.Errorf("the stage's clock: %w", err)
		}
		return Clock{follows: file}, nil
	}
	parts := strings.Split(text, ",")
	if len(parts) != 3 {
		return Clock{}, errClock
	}
	stage, err := time.Parse(time.RFC3339Nano, parts[0])
	if err != nil {
		return Clock{}, fmt.Errorf("%w: %w", errClock, err)
	}
	nanos, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil {
		return Clock{}, fmt.Errorf("%w: %w", errClock, err)
	}
	rate, err := strconv.ParseFloat(parts[2], 64)
	if err != nil || !(rate > 0) || rate > 1e6 {
		return Clock{}, fmt.Errorf("%w: rate %q", errClock, parts[2])
	}
	return Clock{stage: stage, wall: time.Unix(0, nanos), rate: rate}, nil
}

// StageEndpoints tells a function where the stage has a cluster's Kubernetes API,
// while EKS tells the endpoint that the real cluster had: what the checks
// compare must be the real one. A deployment never sets it; a test over the
// template holds that.
const StageEndpoints spec.Variable = "ROLLCALL_STAGE_DOORS"

// EndpointOverrides are the addresses of clusters' Kubernetes APIs by the cluster's name.
type EndpointOverrides map[string]EndpointOverride

// EndpointOverride is the address of a Kubernetes API and its authority, in PEM.
type EndpointOverride struct {
	Endpoint string `json:"endpoint"`
	CA       []byte `json:"ca"`
}

// ForCluster is the endpoint of a cluster, if it has one.
func (d EndpointOverrides) ForCluster(cluster string) (endpoint string, ca []byte, ok bool) {
	override, ok := d[cluster]
	return override.Endpoint, override.CA, ok
}

var errEndpointOverrides = errors.New("is not what the stage sets")

func parseEndpointOverrides(text string) (EndpointOverrides, error) {
	if text == "" {
		return nil, nil
	}
	var d EndpointOverrides
	if json.Unmarshal([]byte(text), &d) != nil {
		return nil, errEndpointOverrides
	}
	return d, nil
}

// Load reads the variables that a function's Spec names, and no others. All
// that is wrong is said at once: a missing or malformed setting is an error
// that names the variable, the CDK context key that sets it, and what it
// may be.
func Load(getenv func(string) string, wanted []spec.Variable) (Config, error) {
	c := Config{Region: getenv("AWS_REGION")}
	var wrong []error
	clock, err := parseClock(getenv(string(StageClock)))
	if err != nil {
		wrong = append(wrong, fmt.Errorf("%s: %w", StageClock, err))
	}
	c.Clock = clock
	if c.Endpoints, err = parseEndpointOverrides(getenv(string(StageEndpoints))); err != nil {
		wrong = append(wrong, fmt.Errorf("%s: %w", StageEndpoints, err))
	}
	for _, v := range wanted {
		text, err := Unpack(strings.TrimSpace(getenv(string(v))))
		if err != nil {
			wrong = append(wrong, &SettingError{Variable: v, Err: err})
			continue
		}
		if text == "" {
			text = defaultOf(v)
		}
		if err := c.set(v, text); err != nil {
			wrong = append(wrong, &SettingError{Variable: v, Err: err})
		}
	}
	if len(wrong) == 0 && slices.Contains(wanted, Remedies) && slices.Contains(wanted, RemedyRoles) {
		if err := c.autoNeedsRoles(); err != nil {
			wrong = append(wrong, &SettingError{Variable: RemedyRoles, Err: err})
		}
	}
	if c.Hub.Account != "" {
		c.Hub.Region = c.Region
	}
	if len(wrong) == 0 && slices.Contains(wanted, ExternalID) && len(c.Others()) > 0 && c.ExternalID == "" {
		wrong = append(wrong, &SettingError{Variable: ExternalID, Err: errNoExternalID})
	}
	if len(wrong) > 0 {
		return Config{}, fmt.Errorf("settings: %w", errors.Join(wrong...))
	}
	return c, nil
}

var errMissing = errors.New("is not set")

// errNoExternalID: without one, whoever may assume roles in the hub's account could be
// made to act for another customer of it (IAM user guide, "The confused deputy problem").
var errNoExternalID = errors.New("is wanted where there are spokes")

// LogGroups are names of log groups of CloudWatch; one that ends in a star is how
// names begin.
type LogGroups []string

// Name reports whether a log group is among them.
func (l LogGroups) Name(group string) bool {
	return slices.ContainsFunc(l, func(name string) bool {
		begin, open := strings.CutSuffix(name, "*")
		return name == group || open && strings.HasPrefix(group, begin)
	})
}

// MostLogGroups bounds the statement of the policy that they stand in.
const MostLogGroups = 20

// logGroup is CloudWatch's own rule for a name (botocore, logs/2014-03-28,
// LogGroupName). A star alone would be every log of the account.
var logGroup = lazyregexp.New(`^[.\-_/#A-Za-z0-9]{3,512}\*?$`)

func parseLogGroups(text string) (LogGroups, error) {
	if text == "off" {
		return nil, nil
	}
	var list LogGroups
	for name := range strings.SplitSeq(text, ",") {
		name = strings.TrimSpace(name)
		if !logGroup.MatchString(name) {
			return nil, fmt.Errorf(`%q is no name of a log group, nor a begin of at least three characters with a "*" behind it`, name)
		}
		list = append(list, name)
	}
	slices.Sort(list)
	if list = slices.Compact(list); len(list) > MostLogGroups {
		return nil, fmt.Errorf("%d log groups are more than %d", len(list), MostLogGroups)
	}
	return list, nil
}

// packed begins a value that is compressed: a function's environment takes
// 4 KB in all, which the names of a hundred clusters can fill (package limits).
const packed = "gzip:"

// mostUnpacked bounds what a value may unpack to, in bytes.
const mostUnpacked = 1 << 20

// Pack writes a value in fewer characters, if it is a list whose parts are
// alike, as clusters' names are. Load reads both forms.
func Pack(text string) string {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return text // a buffer takes everything: cannot happen
	}
	return packed + base64.StdEncoding.EncodeToString(b.Bytes())
}

// Unpack reads a value that may be packed.
func Unpack(text string) (string, error) {
	code, ok := strings.CutPrefix(text, packed)
	if !ok {
		return text, nil
	}
	data, err := base64.StdEncoding.DecodeString(code)
	if err != nil {
		return "", fmt.Errorf("unpack: %w", err)
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return "", fmt.Errorf("unpack: %w", err)
	}
	plain, err := io.ReadAll(io.LimitReader(r, mostUnpacked+1))
	if err != nil {
		return "", fmt.Errorf("unpack: %w", err)
	}
	if len(plain) > mostUnpacked {
		return "", fmt.Errorf("unpack: more than %d bytes", mostUnpacked)
	}
	return string(plain), nil
}

func required(text string) (string, error) {
	if text == "" {
		return "", errMissing
	}
	return text, nil
}

// clusterName is EKS's own rule for a cluster's name (CreateCluster).
var clusterName = lazyregexp.New(`^[0-9A-Za-z][0-9A-Za-z_-]{0,99}$`)

// isCluster tells a cluster's name, with its account and region where it is a spoke's.
func isCluster(text string) bool {
	c, err := spoke.ParseCluster(text)
	return err == nil && clusterName.MatchString(c.Name)
}

func parseClusters(text string) ([]string, error) {
	if text == "" {
		return nil, errMissing
	}
	if text == "all" {
		return nil, nil
	}
	var names []string
	for name := range strings.SplitSeq(text, ",") {
		name = strings.TrimSpace(name)
		if !isCluster(name) {
			return nil, fmt.Errorf("%q is not a cluster name", name)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// channelID is the form of Slack's ids of public (C), private (G) and direct
// (D) channels. Names do not work: chat.update takes only ids.
var channelID = lazyregexp.New(`^[CGD][A-Z0-9]{2,30}$`)

// NoChannel is what is written for no Slack app: targets get all messages.
const NoChannel = "none"

func parseChannel(text string) (string, error) {
	switch text {
	case "":
		return "", errMissing
	case NoChannel:
		return "", nil
	}
	if !channelID.MatchString(text) {
		return "", fmt.Errorf("%q is not a channel id (open the channel's details in Slack and copy the id at the bottom)", text)
	}
	return text, nil
}

func parseURL(text string) (string, error) {
	if text == "" {
		return "", errMissing
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
		return "", fmt.Errorf("%q is not an http(s) address", text)
	}
	return text, nil
}

// parseDocsURL reads where the documentation's site is: an address below which the pages
// are, without what stands behind a page.
func parseDocsURL(text string) (string, error) {
	if text == "none" {
		return "", nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "https" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", fmt.Errorf("%q is neither %q nor an https address without a query", text, "none")
	}
	return strings.TrimSuffix(text, "/"), nil
}

func parseDuration(text string, least, most time.Duration) (time.Duration, error) {
	if text == "" {
		return 0, errMissing
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%q is not a duration like 90s, 5m or 2h", text)
	}
	if d < least || d > most {
		return 0, fmt.Errorf("%s is outside %s to %s", d, least, most)
	}
	return d, nil
}

// parseReminder reads a duration, or 0 for never.
func parseReminder(text string) (time.Duration, error) {
	if text == "0" {
		return 0, nil
	}
	return parseDuration(text, 5*time.Minute, 24*time.Hour)
}

// mostDays is the longest that evidence is kept.
const mostDays = 365

// keyARN is a key itself: an alias can change its key, and no permission is on one (KMS
// developer guide, "Aliases and permissions").
var keyARN = lazyregexp.New(`^arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key/[A-Za-z0-9-]+$`)

// parseKey reads the ARN of a key, or "none".
func parseKey(text string) (string, error) {
	if text == "none" {
		return "", nil
	}
	if !keyARN.MatchString(text) {
		return "", fmt.Errorf("%q is neither %q nor the ARN of a key (an alias is not enough for a permission)", text, "none")
	}
	return text, nil
}

// parseDays reads for how many days evidence is kept; 0 is none.
func parseDays(text string) (int, error) {
	if text == "off" {
		return 0, nil
	}
	return parseNumber(text, 1, mostDays)
}

var errClock = errors.New(`want "<RFC 3339 time>,<wall clock nanoseconds>,<rate>" or "@<file>"`)

// parseHour reads an hour of the day.
func parseHour(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > 23 {
		return 0, fmt.Errorf("%q is not an hour of the day (0 to 23)", text)
	}
	return n, nil
}

// The variables of a relay's own template, and the readers of who goes without one.
const (
	RelayCluster  spec.Variable = "ROLLCALL_RELAY_CLUSTER"
	RelayEndpoint spec.Variable = "ROLLCALL_RELAY_ENDPOINT"
	RelayCA       spec.Variable = "ROLLCALL_RELAY_CA"
	InVPC         spec.Variable = "ROLLCALL_IN_VPC"
)

// Relay is what is known of relays.
type Relay struct {
	// RelayCluster is the ARN of the cluster that a relay is of, RelayEndpoint the address of
	// its API and RelayCA its authority, in PEM.
	RelayCluster, RelayEndpoint string
	RelayCA                     []byte
	// InVPC is set where the function runs in the operator's VPC, from where it reaches the
	// hub's own clusters itself.
	InVPC bool
	// Relays are the clusters whose relays are asked.
	Relays []string
}

// parseRelays reads the names of clusters, or "none".
func parseRelays(text string) ([]string, error) {
	switch text {
	case "", "none":
		return nil, nil
	case "all":
		return nil, errors.New("each cluster is named: a relay is not asked by its name alone")
	}
	return parseClusters(text)
}

var (
	clusterARN = lazyregexp.New(`^arn:[a-z-]+:eks:[a-z0-9-]+:[0-9]{12}:cluster/[0-9A-Za-z][A-Za-z0-9_-]{0,99}$`)
	// A cluster's API has a host of EKS's own and nothing behind it (EKS API reference,
	// Cluster, endpoint): no user, no path, no query.
	clusterAPI = lazyregexp.New(`^https://[A-Za-z0-9.-]+(:[0-9]+)?$`)
)

func (c *Config) setRelay(v spec.Variable, text string) error {
	switch v {
	case RelayCluster:
		if !clusterARN.MatchString(text) {
			return errors.New("is not the ARN of an EKS cluster")
		}
		c.RelayCluster = text
	case RelayEndpoint:
		if !clusterAPI.MatchString(text) {
			return errors.New("is not the address of a cluster's API")
		}
		c.RelayEndpoint = text
	case RelayCA:
		// As DescribeCluster gives it (certificateAuthority.data).
		ca, err := base64.StdEncoding.DecodeString(text)
		if err != nil || len(ca) == 0 {
			return errors.New("is not a cluster's authority in base64")
		}
		c.RelayCA = ca
	case InVPC:
		var err error
		if text != "" {
			c.InVPC, err = parseSwitch(text)
		}
		return err
	default:
		return errors.New("is not a setting of Rollcall")
	}
	return nil
}
