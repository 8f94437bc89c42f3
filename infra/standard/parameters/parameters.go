// Package parameters is the contract between the standard template and whoever deploys it:
// which parameters infra/RollcallStandard.template.json has, and what settings make of them.
//
// There is one parameter for each setting that a hub has, called as the setting with a
// capital first letter. CloudFormation cannot read what stands inside some settings (which
// clusters opted in to a remedy, the names of secrets among targets), so further parameters
// hold it as lists; Values computes them.
package parameters

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"rollcall/infra/settings"
	"rollcall/shared/config"
	"rollcall/shared/relay"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/spec"
	"rollcall/shared/spoke"
	"rollcall/shared/target"
)

// The parameters of which the settings say nothing: where the functions' packages are, and
// how the stack's resources are called.
const (
	CodeBucket = "CodeBucket"
	CodePrefix = "CodePrefix"
	NamePrefix = "NamePrefix"
)

// Parameters that the template names itself.
const (
	SlackChannel         = "SlackChannel"
	SlackSecretARN       = "SlackSecretArn"
	SlackSecretKMSKey    = "SlackSecretKmsKeyArn"
	SigningSecretARN     = "SlackSigningSecretArn"
	SlackActions         = "SlackActions"
	TargetSecretKMSKey   = "TargetSecretKmsKeyArn"
	Targets              = "Targets"
	TargetEmail          = "TargetEmail"
	KubernetesAccess     = "KubernetesAccess"
	AccessClusters       = "AccessClusters"
	AlarmTopicARN        = "AlarmTopicArn"
	AlarmEmail           = "AlarmEmail"
	JoinTime             = "JoinTime"
	PermissionsBoundary  = "PermissionsBoundary"
	KMSKey               = "KmsKeyArn"
	RolePath             = "RolePath"
	SweepConcurrency     = "SweepConcurrency"
	LogRetentionDays     = "LogRetentionDays"
	Dashboard            = "Dashboard"
	Evidence             = "Evidence"
	DecodeDenied         = "DecodeDenied"
	InstanceData         = "InstanceData"
	AutoModeLogs         = "AutoModeLogs"
	CleanupUntagged      = "CleanupUntagged"
	RemedyVPCs           = "RemedyVpcs"
	RemedyRoles          = "RemedyRoles"
	Spokes               = "Spokes"
	Remedies             = "Remedies"
	Cleanup              = "Cleanup"
	ExternalID           = "ExternalId"
	VPCSubnetIDs         = "VpcSubnetIds"
	VPCSecurityGroupIDs  = "VpcSecurityGroupIds"
	ClusterRoleClusters  = "ClusterRoleClusters"
	TargetSecrets        = "TargetSecrets"
	TargetTopics         = "TargetTopics"
	MakeTargetTopic      = "MakeTargetTopic"
	RelayFunctions       = "RelayFunctions"
	SpokeAccounts        = "SpokeAccounts"
	SpokeReaderRoles     = "SpokeReaderRoles"
	SpokeCleanerRoles    = "SpokeCleanerRoles"
	SpokeRemediatorRoles = "SpokeRemediatorRoles"
	InterfaceClusters    = "DeleteInterfacesClusters"
	InterfaceVPCs        = "DeleteInterfacesVpcs"
	RouteClusters        = "AddNatRouteClusters"
	EndpointClusters     = "OpenEndpointSecurityGroupClusters"
	ReplaceClusters      = "ReplaceInstanceClusters"
	ZoneClusters         = "CoverZonesClusters"
	AccessEntryClusters  = "CreateAccessEntryClusters"
)

// The most entries of a list whose items the template turns into ARNs or resources: each
// item has a place in the template, because CloudFormation repeats nothing without a macro.
const (
	MostAccessEntries = 40
	MostClusters      = 16 // of each remedy, and of the clean-up: a managed policy has room for so many statements
	MostVPCs          = 10
	MostLogGroups     = config.MostLogGroups
	MostTargets       = 10 // as package target
	MostTargetSecrets = 8
	MostRelays        = 20
	MostEmails        = 10
	MostSubnets       = 8 // Lambda takes 16, but a role's own policy has no room for them
	MostGroups        = 5 // as Lambda
)

// mostValue is how long a parameter's value can be, in bytes (CloudFormation quotas,
// "Parameter value").
const mostValue = 4096

// Group is a heading of the form that the console shows.
type Group string

// The headings, in the order of the form.
const (
	GroupCode     Group = "Code"
	GroupSlack    Group = "Slack"
	GroupClusters Group = "Clusters and access"
	GroupTimes    Group = "Times"
	GroupFixes    Group = "What Rollcall can fix"
	GroupTargets  Group = "Other targets"
	GroupSpokes   Group = "Other accounts and regions"
	GroupRunning  Group = "Running Rollcall"
	GroupComputed Group = "Lists that rollcall deploy and Terraform compute"
)

// Groups are the headings in order.
func Groups() []Group {
	return []Group{GroupCode, GroupSlack, GroupClusters, GroupTimes, GroupFixes, GroupTargets, GroupSpokes, GroupRunning, GroupComputed}
}

// Parameter is one parameter of the template.
type Parameter struct {
	Name  string
	Group Group
	// About is its description. CloudFormation takes 4,000 characters.
	About string
	// Type is "String" where empty.
	Type    string
	Default string
	// Required parameters have no default.
	Required bool
	// Pattern is what CloudFormation accepts (AllowedPattern), Allowed a list of all values.
	Pattern string
	Allowed []string
	// Least and Most bound a Number, Longest a text: a policy has room for so much.
	Least, Most, Longest int
	// Packs is set where only functions read the value, which they also do compressed.
	Packs bool
	// Setting is the key of the setting; empty for what is computed of others.
	Setting string

	of func(facts) string
}

// ByName is one of All.
func ByName(name string) Parameter {
	for _, p := range All() {
		if p.Name == name {
			return p
		}
	}
	return Parameter{}
}

// longest bounds the lists that stand in policies. A cluster's name has 100 characters at most
// (EKS, CreateCluster), a VPC's and a security group's id 21 and 20, a subnet's 24.
func longest() map[string]int {
	const clusters, vpcs = MostClusters * 101, MostVPCs * 22
	return map[string]int{
		AccessClusters: MostAccessEntries * 101, ClusterRoleClusters: mostValue,
		InterfaceClusters: clusters, RouteClusters: clusters, EndpointClusters: clusters, ReplaceClusters: clusters, ZoneClusters: clusters, AccessEntryClusters: clusters,
		InterfaceVPCs: vpcs, RemedyVPCs: vpcs, CleanupUntagged: vpcs, VPCSubnetIDs: MostSubnets * 25, VPCSecurityGroupIDs: MostGroups * 21,
		TargetSecrets: 2000, TargetTopics: 3000, RelayFunctions: MostRelays * 65,
		// Functions read these two as they are: they must leave room for other settings.
		AutoModeLogs: 800, RemedyRoles: 800,
		RolePath: 128, SpokeAccounts: mostValue, SpokeReaderRoles: mostValue, SpokeCleanerRoles: mostValue, SpokeRemediatorRoles: mostValue, TargetEmail: mostValue,
	}
}

// facts are the settings, read.
type facts struct {
	settings.Settings
	config.Config
}

// The forms of values. Lists are texts with commas, as settings are; their items are of any
// length, because Go's regular expressions repeat nothing more than 1,000 times.
const (
	cluster     = `[0-9A-Za-z][0-9A-Za-z_-]*`
	duration    = `^([0-9]+(h|m|s|ms))+$|^0$`
	vpcID       = `vpc-[0-9a-f]+`
	secretARN   = `^$|^arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:[0-9]{12}:secret:.+-[A-Za-z0-9]{6}$`
	keyARN      = `^$|^arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key/[A-Za-z0-9-]+$`
	topicARN    = `arn:aws[a-z-]*:sns:[a-z0-9-]+:[0-9]+:[A-Za-z0-9_-]+`
	roleARN     = `arn:aws[a-z-]*:iam::[0-9]+:role/[A-Za-z0-9_+=.@/-]+`
	something   = `^.+$`
	number      = `^[0-9]+$`
	httpAddress = `^https?://.+$`
)

// listOf is a list of at most so many of a form, or one word instead ("" for nothing at all).
func listOf(form string, most int, instead string) string {
	return fmt.Sprintf("^(%s|(%s)(,(%s)){0,%d})$", instead, form, form, most-1)
}

func switches() []string { return []string{"on", "off"} }

// joinTimes are the values of JoinTime: the template needs the seconds, and CloudFormation
// cannot count, so a table of the template has them.
func joinTimes() []string {
	var all []string
	for n := 1; n <= 15; n++ {
		all = append(all, fmt.Sprintf("%dm", n))
	}
	return all
}

// All are all parameters, in the order of the form.
func All() []Parameter {
	all := []Parameter{
		{Name: CodeBucket, Group: GroupCode, Required: true, Pattern: `^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`, About: "Bucket in this region that holds the functions' packages: the files <function>.zip of a release."},
		{Name: CodePrefix, Group: GroupCode, Pattern: `^(|.*/)$`, About: "Start of the packages' keys in the bucket, with a slash at its end, like rollcall/v0.1.0/. It must change when the packages change: Lambda reads new code only from a new key."},
		{Name: NamePrefix, Group: GroupCode, Default: "rollcall", Pattern: `^[a-z][a-z0-9-]{0,29}$`, Setting: settings.StackName, of: func(f facts) string { return f.Prefix() },
			About: "Start of the names of functions, queues and roles: the name of the stack in lower case. With spokes 20 characters at most."},
	}
	for _, s := range config.Settings() {
		if s.Variable != config.SlackSecretARN && s.Variable != config.SigningARN {
			all = append(all, ofFunctions(s))
		}
	}
	all = slices.Concat(all, ofStack(), computed())
	for i := range all {
		all[i].Longest = longest()[all[i].Name]
	}
	return all
}

// ofFunctions is the parameter of a setting that the functions read as it is.
func ofFunctions(s config.Setting) Parameter {
	p := Parameter{
		Name: name(s.Context), Group: GroupRunning, About: s.About, Default: s.Default, Pattern: something, Setting: s.Context,
		of: func(f facts) string { return f.Environment[s.Variable] },
	}
	form, ok := forms()[s.Variable]
	if !ok {
		return p
	}
	p.Group, p.Type, p.Pattern, p.Allowed, p.Least, p.Most, p.Packs = form.Group, form.Type, form.Pattern, form.Allowed, form.Least, form.Most, form.Packs
	if form.of != nil {
		p.of = form.of
	}
	if form.About != "" {
		p.About = form.About
	}
	return p
}

// forms say what of a setting of the functions CloudFormation judges, and where the console
// shows it.
func forms() map[spec.Variable]Parameter {
	text := func(g Group, pattern string) Parameter { return Parameter{Group: g, Pattern: pattern} }
	long := func(g Group) Parameter { return Parameter{Group: g, Pattern: something, Packs: true} }
	onOff := func(g Group) Parameter { return Parameter{Group: g, Allowed: switches()} }
	count := func(g Group, least, most int) Parameter {
		return Parameter{Group: g, Type: "Number", Least: least, Most: most}
	}
	list := func(g Group, form string, most int, none string) Parameter {
		return Parameter{Group: g, Pattern: listOf(form, most, none)}
	}
	joins := Parameter{Group: GroupTimes, Allowed: joinTimes(), of: func(f facts) string {
		if f.JoinTime%time.Minute != 0 {
			return f.Environment[config.JoinTime] // refused by the allowed values
		}
		return fmt.Sprintf("%dm", int(f.JoinTime/time.Minute))
	}}
	logs := list(GroupFixes, `[.#A-Za-z0-9_/-]+[*]?`, MostLogGroups, "off")
	logs.Group = GroupClusters
	logs.of = func(f facts) string { return listed(f.AutoModeLogs, "off") }
	untagged := list(GroupFixes, vpcID, MostVPCs, "none")
	untagged.of = func(f facts) string { return listed(f.CleanupUntagged, "none") }
	vpcs := list(GroupFixes, vpcID, MostVPCs, "none")
	vpcs.of = func(f facts) string { return listed(f.RemedyVPCs, "none") }
	roles := list(GroupFixes, roleARN, 100, "none")
	roles.of = func(f facts) string { return listed(f.RemedyRoles, "none") }
	return map[spec.Variable]Parameter{
		config.Channel:   {Group: GroupSlack, Pattern: `^(|none|[CGD][A-Z0-9]{2,30})$`},
		config.SlackAPI:  text(GroupSlack, httpAddress),
		config.DocsURL:   text(GroupSlack, `^none$|^https://.+$`),
		config.OwnerTags: long(GroupClusters), config.Owners: long(GroupClusters), config.LinkHosts: long(GroupSlack),
		config.Clusters: long(GroupClusters), config.Relays: long(GroupClusters), config.AutoModeLogs: logs,
		config.JoinTime: joins, config.GiveUp: text(GroupTimes, duration), config.ProofTime: text(GroupTimes, duration),
		config.ReopenTime: text(GroupTimes, duration), config.RemindAfter: text(GroupTimes, duration), config.RunwayHorizon: text(GroupTimes, duration),
		config.ReportHour: count(GroupTimes, 0, 23), config.WeeklyAt: text(GroupTimes, `^off$|^[A-Za-z]{3}/([01][0-9]|2[0-3]):00$`),
		config.Cleanup: long(GroupFixes), config.CleanupGrace: text(GroupFixes, duration), config.CleanupCap: count(GroupFixes, 1, 5000),
		config.CleanupShare: count(GroupFixes, 1, 100), config.CleanupUntagged: untagged,
		config.Remedies: long(GroupFixes), config.RemedyVPCs: vpcs, config.RemedyRoles: roles, config.RemedyLimit: count(GroupFixes, 1, 20),
		config.Approvers: long(GroupFixes), config.ApprovalTime: text(GroupFixes, duration), config.WhoResponds: long(GroupSlack),
		config.SlackActions: onOff(GroupSlack), config.Routes: long(GroupSlack),
		config.Targets: long(GroupTargets), config.PagerDutyAPI: text(GroupTargets, httpAddress),
		config.DecodeDenied: onOff(GroupClusters), config.InstanceData: onOff(GroupClusters), config.ChangeNames: onOff(GroupSlack), config.SubnetMetrics: onOff(GroupRunning),
		config.Evidence: text(GroupRunning, `^off$|^[0-9]{1,3}$`), config.SweepConcurrency: count(GroupRunning, 2, 50),
		config.LogLevel: {Group: GroupRunning, Pattern: `^(?i:debug|info|warn|error)([+-][0-9]+)?$`},
		config.KMSKey:   text(GroupRunning, `^none$|^arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key/[A-Za-z0-9-]+$`),
		config.Spokes:   long(GroupSpokes), config.ExternalID: text(GroupSpokes, `^none$|^[A-Za-z0-9_+=,.@:/-]{8,}$`),
	}
}

// ofStack are the parameters of the settings that are the stack's own.
func ofStack() []Parameter {
	own := map[string]Parameter{}
	for _, k := range settings.Keys() {
		own[k.Name] = Parameter{Name: name(k.Name), About: k.About, Default: k.Default, Setting: k.Name}
	}
	row := func(key string, group Group, pattern string, of func(facts) string) Parameter {
		p := own[key]
		p.Group, p.Pattern, p.of = group, pattern, of
		return p
	}
	access := row(settings.KubernetesAccess, GroupClusters, "", func(f facts) string { return string(f.Access) })
	access.Allowed = []string{string(settings.AccessGroup), string(settings.AccessPolicy), string(settings.AccessNone)}
	clusters := row(settings.AccessClusters, GroupClusters, listOf(cluster, MostAccessEntries, ""), func(f facts) string { return listed(entries(f.Settings), "") })
	clusters.About = "Clusters in which the stack creates the access entry, separated by commas. Unlike the setting of the CDK app it is not filled in from Clusters: list each cluster, but none in authentication mode CONFIG_MAP."
	days := row(settings.LogRetentionDays, GroupRunning, "", func(f facts) string { return strconv.Itoa(f.Settings.LogRetentionDays) })
	days.Type = "Number"
	for _, n := range settings.Retentions() {
		days.Allowed = append(days.Allowed, strconv.Itoa(n))
	}
	board := row(settings.Dashboard, GroupRunning, "", func(f facts) string { return onOff(f.Settings.Dashboard) })
	board.Allowed = switches()
	return []Parameter{
		row("slackSecretArn", GroupSlack, secretARN, func(f facts) string { return f.Settings.SlackSecretARN }),
		row("slackSigningSecretArn", GroupSlack, secretARN, func(f facts) string { return f.Settings.SigningSecretARN }),
		row(settings.SlackSecretKMSKey, GroupSlack, keyARN, func(f facts) string { return f.Settings.SlackSecretKMSKey }),
		row(settings.TargetSecretKMSKey, GroupTargets, keyARN, func(f facts) string { return f.Settings.TargetSecretKMSKey }),
		access, clusters,
		row(settings.VPCSubnetIDs, GroupClusters, listOf(`subnet-[0-9a-f]+`, MostSubnets, ""), func(f facts) string { return listed(f.VPC.SubnetIDs, "") }),
		row(settings.VPCSecurityGroupIDs, GroupClusters, listOf(`sg-[0-9a-f]+`, MostGroups, ""), func(f facts) string { return listed(f.VPC.SecurityGroupIDs, "") }),
		row(settings.AlarmTopicARN, GroupRunning, `^$|^`+topicARN+`$`, func(f facts) string { return f.Settings.AlarmTopicARN }),
		row(settings.AlarmEmail, GroupRunning, `^$|^[^@]+@[^@]+$`, func(f facts) string { return f.Settings.AlarmEmail }),
		row(settings.TargetEmail, GroupTargets, listOf(`[^@,]+@[^@,]+`, MostEmails, ""), func(f facts) string { return listed(f.TargetEmails, "") }),
		row(settings.PermissionsBoundary, GroupRunning, `^$|^arn:aws[a-z-]*:iam::([0-9]{12}|aws):policy/[A-Za-z0-9_+=,.@/-]+$`, func(f facts) string { return f.Settings.PermissionsBoundary }),
		row(settings.RolePath, GroupRunning, `^/([A-Za-z0-9_+=,.@-]+/)*$`, func(f facts) string { return f.Settings.RolePath }),
		days, board,
	}
}

// computed are the parameters that hold what stands inside settings.
func computed() []Parameter {
	row := func(name, pattern, about string, of func(facts) []string) Parameter {
		return Parameter{Name: name, Group: GroupComputed, Pattern: pattern, About: about, of: func(f facts) string { return listed(of(f), "") }}
	}
	remedied := func(name string, r optin.Remedy) Parameter {
		return row(name, listOf(cluster, MostClusters, ""), fmt.Sprintf("Clusters of this account and region that the setting Remedies lets the remedy %s act in, separated by commas.", r),
			func(f facts) []string { return optedIn(f.Config, r) })
	}
	return []Parameter{
		row(ClusterRoleClusters, listOf(cluster, 100, ""), "Clusters whose rights come from deploy/clusterrole.yaml, separated by commas: those of AccessClusters, unless KubernetesAccess is policy, and those in authentication mode CONFIG_MAP. The output ClusterRoleCommand names them.",
			func(f facts) []string { return roleClusters(f.Settings) }),
		row(InterfaceClusters, listOf(cluster, MostClusters, ""), "Clusters of this account and region whose leaked network interfaces can be deleted, separated by commas: those with a mode of dry-run or delete in Cleanup, and those whose Remedies include delete-leaked-interfaces.",
			func(f facts) []string { return deletes(f.Config) }),
		row(InterfaceVPCs, listOf(vpcID, MostVPCs, ""), "The VPCs of CleanupUntagged if a cluster has a mode of dry-run or delete in Cleanup, separated by commas; otherwise empty.",
			func(f facts) []string { return untagged(f.Config) }),
		remedied(RouteClusters, optin.AddNATRoute), remedied(EndpointClusters, optin.OpenEndpointSecurityGroup),
		remedied(ReplaceClusters, optin.ReplaceInstance), remedied(ZoneClusters, optin.CoverZones), remedied(AccessEntryClusters, optin.CreateAccessEntry),
		row(TargetSecrets, listOf(`[A-Za-z0-9/_+=.@-]+`, MostTargetSecrets, ""), "Names of the secrets that Targets names, separated by commas.", func(f facts) []string {
			return distinct(f.Targets, func(t target.Target) string { return t.Secret })
		}),
		row(TargetTopics, listOf(topicARN, MostTargets, ""), "ARNs of the topics that Targets names, separated by commas.", func(f facts) []string {
			return distinct(f.Targets, func(t target.Target) string { return t.Topic })
		}),
		{Name: MakeTargetTopic, Group: GroupComputed, Allowed: switches(), Default: "off", About: `"on" creates the topic of the target sns.`, of: func(f facts) string { return onOff(f.MakesTopic) }},
		row(RelayFunctions, listOf(`[A-Za-z0-9_-]+`, MostRelays, ""), "Names of the functions of the relays in this account and region, separated by commas. If it is empty, the reader can invoke all functions whose names begin like a relay's.",
			func(f facts) []string { return relays(f.Settings) }),
		row(SpokeAccounts, listOf(`[0-9]+`, 300, ""), "Accounts in Spokes, separated by commas.", func(f facts) []string { return accounts(f.Settings) }),
		row(SpokeReaderRoles, listOf(roleARN, 100, ""), "ARNs of the role reader of each spoke, separated by commas.", func(f facts) []string { return roles(f, spec.SpokeReader) }),
		row(SpokeCleanerRoles, listOf(roleARN, 100, ""), "ARNs of the role cleaner of each spoke that has one, separated by commas.", func(f facts) []string { return roles(f, spec.SpokeCleaner) }),
		row(SpokeRemediatorRoles, listOf(roleARN, 100, ""), "ARNs of the role remediator of each spoke that has one, separated by commas.", func(f facts) []string { return roles(f, spec.SpokeRemediator) }),
	}
}

// Unsupported is a setting that the standard template cannot have.
type Unsupported struct {
	// Setting is its key, or the parameter's name where it is computed of several.
	Setting string
	Reason  string
}

// Error says what to do.
func (u *Unsupported) Error() string {
	return fmt.Sprintf("%s: %s; the CDK app (make deploy) can have it (docs/standard.md)", u.Setting, u.Reason)
}

// Values returns the values of all parameters but CodeBucket and CodePrefix. Its errors are
// *Unsupported, joined.
func Values(s settings.Settings) (map[string]string, error) {
	f := facts{Settings: s}
	var wanted []spec.Variable
	for _, setting := range config.Settings() {
		if setting.Variable != config.SlackSecretARN && setting.Variable != config.SigningARN {
			wanted = append(wanted, setting.Variable)
		}
	}
	loaded, err := config.Load(func(name string) string { return s.Environment[spec.Variable(name)] }, wanted)
	if err != nil {
		return nil, err
	}
	f.Config = loaded

	values := map[string]string{}
	var wrong []error
	list := All()
	for _, p := range list {
		if p.of != nil {
			values[p.Name] = p.of(f)
		}
	}
	if over := pack(list, values); over > 0 {
		wrong = append(wrong, &Unsupported{"the settings together", fmt.Sprintf("they have %d characters too many for a function's environment", over)})
	}
	for _, p := range list {
		if p.of == nil {
			continue
		}
		if reason := p.Refuses(values[p.Name]); reason != "" {
			wrong = append(wrong, &Unsupported{cmp.Or(p.Setting, p.Name), reason})
		}
	}
	if len(wrong) > 0 {
		return nil, errors.Join(wrong...)
	}
	return values, nil
}

// Refuses returns why CloudFormation would refuse a value, or nothing.
func (p Parameter) Refuses(value string) string {
	switch {
	case len(value) > cmp.Or(p.Longest, mostValue):
		return fmt.Sprintf("%d characters, and the standard template accepts %d at most", len(value), cmp.Or(p.Longest, mostValue))
	case len(p.Allowed) > 0 && !slices.Contains(p.Allowed, value):
		return fmt.Sprintf("%q is none of %s", value, strings.Join(p.Allowed, ", "))
	case p.Pattern != "" && !regexp.MustCompile(p.Pattern).MatchString(value):
		if n := strings.Count(value, ","); n > 0 {
			return fmt.Sprintf("the standard template does not accept this list of %d", n+1)
		}
		return fmt.Sprintf("the standard template does not accept %q", value)
	}
	return ""
}

// roomForSettings are the characters of a function's environment that settings can have: of
// 4,096 bytes (Lambda quotas) the names of all variables and the addresses of queues, table
// and secrets take up the others. No function reads all settings.
const roomForSettings = 2400

// worthPacking is from how many characters on a value gets shorter, as in the CDK app.
const worthPacking = 256

// pack compresses the longest values until a function's environment has room for all, and
// reports how many characters there are too many.
func pack(list []Parameter, values map[string]string) (over int) {
	var long []string
	total := 0
	for _, p := range list {
		if slices.ContainsFunc(config.Settings(), func(s config.Setting) bool { return s.Context == p.Setting }) {
			total += len(values[p.Name])
		}
		if p.Packs {
			long = append(long, p.Name)
		}
	}
	slices.SortStableFunc(long, func(a, b string) int { return len(values[b]) - len(values[a]) })
	for _, name := range long {
		before := len(values[name])
		if total <= roomForSettings || before < worthPacking {
			break
		}
		if text := config.Pack(values[name]); len(text) < before {
			values[name] = text
			total += len(text) - before
		}
	}
	return max(0, total-roomForSettings)
}

// name is a setting's key with a capital first letter.
func name(key string) string { return strings.ToUpper(key[:1]) + key[1:] }

// listed joins a list with commas; nothing is the word for none.
func listed(list []string, none string) string {
	if len(list) == 0 {
		return none
	}
	return strings.Join(list, ",")
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// entries are the clusters in which the stack creates access entries.
func entries(s settings.Settings) []string {
	if s.Access == settings.AccessNone {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(s.AccessClusters), func(c string) bool { return slices.Contains(s.ConfigMapClusters, c) })
}

// roleClusters are the clusters in which the ClusterRole is applied.
func roleClusters(s settings.Settings) []string {
	var list []string
	if s.Access == settings.AccessGroup {
		list = entries(s)
	}
	if s.Access != settings.AccessNone {
		list = append(list, s.ConfigMapClusters...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// optedIn are the hub's own clusters that a remedy can act in.
func optedIn(c config.Config, r optin.Remedy) []string {
	own := c.ForSpoke(spoke.ID{})
	return slices.DeleteFunc(slices.Sorted(maps.Keys(own.Remedied)), func(name string) bool { return own.RemedyOf(name, r) == optin.Off })
}

// deletes are the hub's own clusters whose leaked interfaces can be deleted.
func deletes(c config.Config) []string {
	own := c.ForSpoke(spoke.ID{})
	list := append(optedIn(c, optin.DeleteLeakedInterfaces), cleaned(own)...)
	slices.Sort(list)
	return slices.Compact(list)
}

// cleaned are the clusters whose mode of cleanup does more than report.
func cleaned(of config.Config) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(of.Cleanups)), func(name string) bool { return of.CleanupOf(name) == config.Report })
}

// untagged are the VPCs in which interfaces without a cluster's tag can be deleted.
func untagged(c config.Config) []string {
	if len(cleaned(c.ForSpoke(spoke.ID{}))) == 0 {
		return nil
	}
	return c.CleanupUntagged
}

// distinct are the values that targets have of something, each once.
func distinct(targets []target.Target, value func(target.Target) string) []string {
	var list []string
	for _, t := range targets {
		if text := value(t); text != "" && !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return list
}

// relays are the functions of the relays of the hub's own clusters.
func relays(s settings.Settings) []string {
	var list []string
	for _, text := range s.Relays {
		if c, err := spoke.ParseCluster(text); err == nil && c.Hub() {
			list = append(list, relay.FunctionName(s.Prefix(), c.Name))
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func accounts(s settings.Settings) []string {
	var list []string
	for _, of := range s.Spokes {
		list = append(list, of.Account)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// roles are the ARNs of a role of the spokes that have it. A role that changes something is
// there where a cluster of the spoke has opted in: as the grants of eni-cleanup and remediate
// have it, which a test holds this against.
func roles(f facts, role spec.SpokeRole) []string {
	var list []string
	for _, s := range f.Settings.Spokes {
		of := f.ForSpoke(s.ID)
		var has bool
		switch role {
		case spec.SpokeReader:
			has = true
		case spec.SpokeCleaner:
			has = len(cleaned(of)) > 0 || anyOf(of, optin.DeleteLeakedInterfaces)
		case spec.SpokeRemediator:
			has = anyOf(of, optin.ReplaceInstance) || anyOf(of, optin.CoverZones) ||
				len(of.RemedyVPCs) > 0 && (anyOf(of, optin.AddNATRoute) || anyOf(of, optin.OpenEndpointSecurityGroup)) ||
				len(of.RemedyRoles) > 0 && anyOf(of, optin.CreateAccessEntry)
		}
		if has {
			list = append(list, config.SpokeRoleARN(f.Settings.RolePath+f.Prefix(), role, s.ID))
		}
	}
	return list
}

func anyOf(c config.Config, r optin.Remedy) bool {
	for name := range c.Remedied {
		if c.RemedyOf(name, r) != optin.Off {
			return true
		}
	}
	return false
}
