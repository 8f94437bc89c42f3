// Package settings turns the CDK context into what the stack and the
// functions get. What is wrong ends the synth with a sentence, before
// anything is deployed.
package settings

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"rollcall/shared/config"
	"rollcall/shared/ownership"
	"rollcall/shared/settingsfile"
	"rollcall/shared/spec"
	"rollcall/shared/spoke"
	"rollcall/shared/target"
)

// Access is how functions get their Kubernetes rights.
type Access string

// The ways; see the key kubernetesAccess.
const (
	AccessPolicy Access = "policy"
	AccessGroup  Access = "group"
	AccessNone   Access = "none"
)

// Settings are what an operator chose.
type Settings struct {
	StackName string
	// Environment holds the functions' settings as text, defaults filled in,
	// but for the ARNs of secrets.
	Environment map[spec.Variable]string
	// SlackSecretARN is empty when the stack is to make the secret.
	SlackSecretARN    string
	SlackSecretKMSKey string
	// TargetSecretKMSKey is the customer key of the secrets of targets; "" is the account's own.
	TargetSecretKMSKey string
	// SigningSecretARN is empty when the stack is to make that secret.
	SigningSecretARN string
	Access           Access
	// AccessClusters are those whose access entries the stack would make;
	// ConfigMapClusters those in which EKS refuses them.
	AccessClusters    []string
	ConfigMapClusters []string
	VPC               VPC
	AlarmTopicARN     string
	AlarmEmail        string
	LogRetentionDays  int
	// MakesTopic is set where a target is a topic of the stack's own, TargetEmails who is
	// subscribed to it.
	MakesTopic   bool
	TargetEmails []string
	// Dashboard is set where there is one.
	Dashboard bool
	// Spokes are the accounts and regions that are watched beside the stack's own; the
	// stack's own may be among them.
	Spokes []config.Spoke
	// Relays are the clusters whose relays are asked.
	Relays []string
	// Spoke is whose template is to be written: "any", or an account and a region; "" for
	// the hub's own.
	Spoke string
	// Organization narrows whom a spoke trusts; "" is none.
	Organization string
	// PermissionsBoundary is the ARN of the policy that bounds every role; "" is none.
	PermissionsBoundary string
	// KMSKey is the ARN of the key that encrypts what the stack keeps; "" is AWS's own.
	KMSKey string
	// RolePath is the path of every role, "/" for none.
	RolePath string
}

// AnySpoke stands for every spoke in which nothing is changed: one template for all.
const AnySpoke = "any"

// Prefix begins the names of the stack's resources.
func (s Settings) Prefix() string { return strings.ToLower(s.StackName) }

// Parse reads the CDK context. All that is wrong is said at once.
func Parse(context map[string]any) (Settings, error) {
	given, wrong := texts(context)
	s := Settings{
		StackName:          given[StackName],
		SlackSecretARN:     given[contextOf(config.SlackSecretARN)],
		SlackSecretKMSKey:  given[SlackSecretKMSKey],
		TargetSecretKMSKey: given[TargetSecretKMSKey],
		SigningSecretARN:   given[contextOf(config.SigningARN)],
		Access:             Access(given[KubernetesAccess]),
		AlarmTopicARN:      given[AlarmTopicARN],
		AlarmEmail:         given[AlarmEmail],
		Spoke:              given[SpokeTemplate],
		Organization:       given[Organization],

		PermissionsBoundary: given[PermissionsBoundary], RolePath: given[RolePath],
	}
	bad := func(key, format string, values ...any) {
		wrong = append(wrong, Problem{Key: key, Err: fmt.Errorf(format, values...)})
	}

	channel, targets := contextOf(config.Channel), contextOf(config.Targets)
	if given[channel] == "" && given[targets] != target.None {
		given[channel] = config.NoChannel
	}
	functions, environment, refused := functionSettings(given)
	wrong = append(wrong, refused...)
	if given[channel] == config.NoChannel && len(refused) == 0 {
		if len(functions.Targets) == 0 {
			bad(channel, "nobody gets a message: give the id of a channel, or set targets")
		}
		if functions.SlackActions {
			bad(contextOf(config.SlackActions), "needs a channel (%s): buttons are in the messages of the Slack app", word(channel))
		}
		if len(functions.Routes) > 0 {
			bad(contextOf(config.Routes), "needs a channel (%s): what no route fits goes there", word(channel))
		}
	}
	var err error
	s.Environment = environment
	s.Spokes, s.Relays, s.KMSKey = functions.Spokes, functions.Relays, functions.KMSKey
	if s.Spoke != "" && s.Spoke != AnySpoke {
		if _, err := spoke.Parse(s.Spoke); err != nil {
			bad(SpokeTemplate, "%w, or any", err)
		}
	}
	if s.Organization != "" && !organizationID.MatchString(s.Organization) {
		bad(Organization, "%q is not the id of an organization (o-a1b2c3d4e5)", s.Organization)
	}
	s.AccessClusters = functions.ForSpoke(spoke.ID{}).Clusters
	if names := given[AccessClusters]; names != "" {
		if s.AccessClusters, err = clusters(names); err != nil {
			bad(AccessClusters, "%w", err)
		}
	}

	if names := given[ConfigMapClusters]; names != "" {
		if s.ConfigMapClusters, err = clusters(names); err != nil {
			bad(ConfigMapClusters, "%w", err)
		}
	}

	var wrongVPC []error
	s.VPC, wrongVPC = vpc(given[VPCSubnetIDs], given[VPCSecurityGroupIDs])
	wrong = append(wrong, wrongVPC...)

	if !stackName.MatchString(s.StackName) {
		bad(StackName, "%q is not a letter followed by up to 29 letters, digits or hyphens", s.StackName)
	}
	if (len(s.Spokes) > 0 || s.Spoke != "") && len(s.StackName) > mostOfHub {
		bad(StackName, "%q is longer than %d characters: with spokes, CloudFormation must not shorten the names of the functions' roles, by which spokes know them", s.StackName, mostOfHub)
	}
	if s.SlackSecretARN != "" && !secretARN.MatchString(s.SlackSecretARN) {
		bad(contextOf(config.SlackSecretARN), "%q is not the whole ARN of a secret (it ends in a hyphen and six characters)", s.SlackSecretARN)
	}
	if s.SigningSecretARN != "" && !secretARN.MatchString(s.SigningSecretARN) {
		bad(contextOf(config.SigningARN), "%q is not the whole ARN of a secret (it ends in a hyphen and six characters)", s.SigningSecretARN)
	}
	if s.SlackSecretKMSKey != "" && !keyARN.MatchString(s.SlackSecretKMSKey) {
		bad(SlackSecretKMSKey, "%q is not the ARN of a key (an alias is not enough for a permission)", s.SlackSecretKMSKey)
	}
	if s.SlackSecretKMSKey != "" && s.SlackSecretARN == "" && s.SigningSecretARN == "" {
		bad(SlackSecretKMSKey, "needs slackSecretArn or slackSigningSecretArn: the stack's own secrets use the account's key")
	}
	if s.TargetSecretKMSKey != "" && !keyARN.MatchString(s.TargetSecretKMSKey) {
		bad(TargetSecretKMSKey, "%q is not the ARN of a key (an alias is not enough for a permission)", s.TargetSecretKMSKey)
	}
	if !slices.Contains([]Access{AccessPolicy, AccessGroup, AccessNone}, s.Access) {
		bad(KubernetesAccess, "%q is not policy, group or none", s.Access)
	}
	if s.AlarmTopicARN != "" && !topicARN.MatchString(s.AlarmTopicARN) {
		bad(AlarmTopicARN, "%q is not the ARN of a topic", s.AlarmTopicARN)
	}
	if s.PermissionsBoundary != "" && !policyARN.MatchString(s.PermissionsBoundary) {
		bad(PermissionsBoundary, "%q is not the ARN of a policy", s.PermissionsBoundary)
	}
	if !rolePath.MatchString(s.RolePath) || len(s.RolePath) > mostOfPath {
		bad(RolePath, "%q is not a path that begins and ends with a slash, of %d characters at most", s.RolePath, mostOfPath)
	}
	if s.AlarmEmail != "" && !strings.Contains(s.AlarmEmail, "@") {
		bad(AlarmEmail, "%q is not an email address", s.AlarmEmail)
	}
	if s.AlarmEmail != "" && s.AlarmTopicARN != "" {
		bad(AlarmEmail, "is for the stack's own topic: subscribe the address to %s yourself", s.AlarmTopicARN)
	}
	s.MakesTopic = slices.ContainsFunc(functions.Targets, func(t target.Target) bool { return t.Kind == target.SNS && t.Topic == "" })
	for address := range strings.SplitSeq(given[TargetEmail], ",") {
		switch address = strings.TrimSpace(address); {
		case given[TargetEmail] == "":
		case !strings.Contains(address, "@"):
			bad(TargetEmail, "%q is not an email address", address)
		case slices.Contains(s.TargetEmails, address):
			bad(TargetEmail, "%q is listed twice", address)
		default:
			s.TargetEmails = append(s.TargetEmails, address)
		}
	}
	if len(s.TargetEmails) > 0 && !s.MakesTopic {
		bad(TargetEmail, "is for the stack's own topic: set targets to sns, or subscribe the addresses to your topic yourself")
	}
	s.LogRetentionDays, err = strconv.Atoi(given[LogRetentionDays])
	if err != nil || !slices.Contains(Retentions(), s.LogRetentionDays) {
		bad(LogRetentionDays, "%q is none of %v", given[LogRetentionDays], Retentions())
	}
	if s.Dashboard = given[Dashboard] == "on"; !s.Dashboard && given[Dashboard] != "off" {
		bad(Dashboard, "%q is neither on nor off", given[Dashboard])
	}
	if len(wrong) > 0 {
		return Settings{}, errors.Join(wrong...)
	}
	return s, nil
}

// mostOfPath keeps the roles' ARNs short enough for the policies that they stand in.
const mostOfPath = 128

// mostOfHub leaves room for "-NodegroupWatchRole239A19D6-" and the twelve characters that
// CloudFormation adds, of the 64 of a role's name.
const mostOfHub = 20

var (
	// stackName is stricter than CloudFormation (128 characters), so that
	// "<stack>-launch-watch-…" stays within the 64 of a function and a role.
	stackName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]{0,29}$`)
	// secretARN wants the six random characters at the end: a permission on
	// the ARN without them matches nothing.
	secretARN = regexp.MustCompile(`^arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:\d{12}:secret:.+-[A-Za-z0-9]{6}$`)
	keyARN    = regexp.MustCompile(`^arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:key/[A-Za-z0-9-]+$`)
	policyARN = regexp.MustCompile(`^arn:aws[a-z-]*:iam::(\d{12}|aws):policy/[A-Za-z0-9_+=,.@/-]+$`)
	// rolePath is narrower than IAM's form (API reference, CreateRole, Path: any printable
	// characters, 512 at most): it stands in ARNs in policies, where some of them mean more.
	rolePath = regexp.MustCompile(`^/([A-Za-z0-9_+=,.@-]+/)*$`)
	// organizationID is the form of Organizations (API reference, Organization, Id).
	organizationID = regexp.MustCompile(`^o-[a-z0-9]{10,32}$`)
	topicARN       = regexp.MustCompile(`^arn:aws[a-z-]*:sns:[a-z0-9-]+:\d{12}:[A-Za-z0-9_-]{1,256}$`)
)

// Retentions are the numbers of days that CloudWatch Logs accepts (PutRetentionPolicy).
func Retentions() []int {
	return []int{1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653}
}

// rollcallKey is what a key of Rollcall looks like. The CLI's and the library's own
// keys hold a colon, a hyphen or an at sign.
var rollcallKey = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]*$`)

// texts gives every key's text, defaults filled in. A key that is not known is
// an error: a misspelt setting must not be a default in silence.
func texts(context map[string]any) (map[string]string, []error) {
	given := map[string]string{}
	names := []string{}
	for _, k := range Keys() {
		given[k.Name] = k.Default
		names = append(names, k.Name)
	}
	var wrong []error
	for _, name := range slices.Sorted(maps.Keys(context)) {
		if !rollcallKey.MatchString(name) {
			continue
		}
		if !slices.Contains(names, name) {
			wrong = append(wrong, unknown(name, names))
			continue
		}
		text, err := textOf(context[name])
		if err != nil {
			wrong = append(wrong, Problem{Key: name, Err: err})
			continue
		}
		if text != "" {
			given[name] = text
		}
	}
	return given, wrong
}

// textOf takes what `-c` gives (always text) and what cdk.json may hold.
func textOf(value any) (string, error) {
	switch v := value.(type) {
	case nil:
		return "", nil
	case string:
		return strings.TrimSpace(v), nil
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), nil
	}
	return "", fmt.Errorf("%v (%T) is neither a text nor a number", value, value)
}

// unknown says that a key is none, and which one was probably meant.
func unknown(name string, known []string) error {
	if meant := settingsfile.Nearest(name, known); meant != "" {
		return fmt.Errorf("%s: is not a setting of Rollcall; did you mean %s? (make … %s)", name, meant, word(meant))
	}
	return fmt.Errorf("%s: is not a setting of Rollcall; there are %s (docs/settings.md)", name, strings.Join(known, ", "))
}

// functionSettings has package config judge the functions' settings, so that
// what is refused at three in the morning is refused here already.
func functionSettings(given map[string]string) (config.Config, map[spec.Variable]string, []error) {
	environment := map[spec.Variable]string{}
	var wanted []spec.Variable
	var wrong []error
	for _, s := range config.Settings() {
		if s.Variable == config.SlackSecretARN || s.Variable == config.SigningARN {
			continue // the stack knows its secrets' ARNs only when they are there
		}
		wanted = append(wanted, s.Variable)
		environment[s.Variable] = given[s.Context]
		if err := problem(s, environment); err != nil {
			wrong = append(wrong, err)
		}
	}
	if len(wrong) > 0 {
		return config.Config{}, environment, wrong
	}
	loaded, err := config.Load(func(name string) string { return environment[spec.Variable(name)] }, wanted)
	if err != nil {
		wrong = append(wrong, asProblem(err))
	}
	if len(wrong) == 0 {
		if _, err := ownership.Parse(loaded.Owners); err != nil {
			wrong = append(wrong, asProblem(err))
		}
	}
	return loaded, environment, wrong
}

func clusters(names string) ([]string, error) {
	getenv := func(name string) string {
		if name == string(config.Clusters) {
			return names
		}
		return ""
	}
	loaded, err := config.Load(getenv, []spec.Variable{config.Clusters})
	if err == nil && loaded.Clusters == nil {
		err = errors.New(`wants names, not "all": the stack cannot know which clusters there are`)
	}
	return loaded.Clusters, err
}

func contextOf(v spec.Variable) string {
	for _, s := range config.Settings() {
		if s.Variable == v {
			return s.Context
		}
	}
	return ""
}

// Key documents one CDK context key.
type Key struct {
	Name    string
	Default string
	About   string
}

// The tag of every resource of the stack that takes one: costs are found by it, and what
// others have made has none.
const (
	TagKey   = "Application"
	TagValue = "Rollcall"
)

// The keys that are the stack's own; the others are settings of the functions.
const (
	StackName          = "stackName"
	SlackSecretKMSKey  = "slackSecretKmsKeyArn"
	TargetSecretKMSKey = "targetSecretKmsKeyArn"
	KubernetesAccess   = "kubernetesAccess"
	AccessClusters     = "accessClusters"
	ConfigMapClusters  = "configMapClusters"
	AlarmTopicARN      = "alarmTopicArn"
	AlarmEmail         = "alarmEmail"
	LogRetentionDays   = "logRetentionDays"
	Dashboard          = "dashboard"
	TargetEmail        = "targetEmail"

	SpokeTemplate = "spoke"
	Organization  = "organization"

	PermissionsBoundary = "permissionsBoundary"
	RolePath            = "rolePath"

	VPCSubnetIDs        = "vpcSubnetIds"
	VPCSecurityGroupIDs = "vpcSecurityGroupIds"
)

// AssistantPolicy and ViewPolicy are the EKS access policies that the stack gives the
// reader where the setting kubernetesAccess is "policy".
const (
	AssistantPolicy = "AmazonAIOpsAssistantPolicy"
	ViewPolicy      = "AmazonEKSViewPolicy"
)

// AIOpsGives is what AmazonAIOpsAssistantPolicy lets a principal read: the
// list in the CloudWatch user guide, "Integration with Amazon EKS", of
// 9 August 2025.
const AIOpsGives = "which also gives the logs of all pods and every ConfigMap of the cluster, and which AWS may extend"

// Keys are all keys that an operator can set with `-c key=value`.
func Keys() []Key {
	var keys []Key
	for _, s := range config.Settings() {
		keys = append(keys, Key{Name: s.Context, Default: s.Default, About: s.About})
	}
	return append(keys,
		Key{SlackSecretKMSKey, "", "ARN of the customer key that encrypts slackSecretArn and slackSigningSecretArn, if there is one; report and slack-actions are then allowed to decrypt with it, through Secrets Manager only."},
		Key{TargetSecretKMSKey, "", "ARN of the customer key that encrypts the secrets of targets, if there is one; notify-targets is then allowed to decrypt them with it, through Secrets Manager only. The key's policy must allow the account's roles to use it."},
		Key{KubernetesAccess, string(AccessGroup), `How join-check, sweep, nodegroup-watch, subnet-watch, zone-watch, remediate and spot-report get read access in clusters: "group" (the Kubernetes group rollcall, whose ClusterRole deploy/clusterrole.yaml lists every object that is read; the output ClusterRoleCommand applies it), "policy" (EKS access policies AmazonAIOpsAssistantPolicy, ` + AIOpsGives + `, and AmazonEKSViewPolicy for kube-system) or "none" (you grant it yourself).`},
		Key{AccessClusters, "", "Clusters in which the stack creates the access entry, separated by commas; if not set, those in the setting clusters. With clusters=all the stack cannot know them: list them here, or run the output KubernetesAccessCommand once for each."},
		Key{ConfigMapClusters, "", "Clusters in authentication mode CONFIG_MAP, separated by commas: EKS rejects access entries there, and the whole stack would roll back, so none is created. make deploy and make diff read the mode from EKS and fill this in; the output AwsAuthRoles has the lines to add to aws-auth instead."},
		Key{VPCSubnetIDs, "", "Private subnets in which join-check, sweep, nodegroup-watch, subnet-watch, zone-watch, remediate and spot-report run, separated by commas; preferably two or more, in different zones. An alternative to relays for clusters with only a private endpoint. From these subnets the functions must reach the APIs of EC2, Auto Scaling, EKS, EventBridge, SQS and DynamoDB (with autoModeLogs CloudWatch Logs too) through a NAT gateway or VPC endpoints."},
		Key{VPCSecurityGroupIDs, "", "Security groups of join-check, sweep, nodegroup-watch, subnet-watch, zone-watch, remediate and spot-report in those subnets, separated by commas. They must allow outbound port 443, and the clusters' security groups must allow inbound port 443 from them."},
		Key{AlarmTopicARN, "", "ARN of an SNS topic for alarms, whose policy lets cloudwatch.amazonaws.com publish. Without it the stack creates one without a KMS key: only SNS's own disk encryption applies. If yours has a KMS key, it must be a customer key whose policy allows cloudwatch.amazonaws.com kms:GenerateDataKey* and kms:Decrypt. With the key aws/sns no alarm arrives."},
		Key{AlarmEmail, "", "Address that receives the alarms of the stack's own topic. SNS sends it a request to confirm."},
		Key{TargetEmail, "", "Addresses that receive incidents by email, separated by commas: they are subscribed to the topic that the stack creates for targets=sns, and SNS sends each a request to confirm."},
		Key{LogRetentionDays, "30", "How long logs are kept, one of the numbers of days that CloudWatch Logs accepts."},
		Key{Dashboard, "on", `"off" leaves out the CloudWatch dashboard (launches, joins, addresses left, incidents, Rollcall's own health). An account's first three dashboards are free, and each further one costs $3.00 a month. Opening it searches the log groups ($0.005 a GB).`},
		Key{SpokeTemplate, "", `Which spoke's template "make spoke-template" writes: "any" (reads and forwards, changes nothing: one file for all accounts), or an account and a region (222233334444/eu-west-1), with the roles for what its clusters opted in to.`},
		Key{Organization, "", "Id of the organization (o-…) of the hub: a spoke's roles then trust the hub only while the hub is in that organization. Leave it out for a spoke outside the organization."},
		Key{PermissionsBoundary, "", "ARN of a managed policy that every role of the stack gets as its permissions boundary, if your organization requires one. The roles can then do only what both their own policies and this policy allow: it must allow what docs/permissions.md lists. In a spoke it is the policy of the same name in the spoke's account."},
		Key{RolePath, "/", `Path of every role of the stack, like /teams/platform/, if your organization allows roles only under a path. The roles in spokes have the same path: deploy the spokes again after changing it. In aws-auth a role stands without its path.`},
		Key{StackName, "Rollcall", "Name of the stack. In lower case it is the name of the bus, and the prefix of every function's and queue's name."},
	)
}

// Line is what the make line hands to the CDK command line, before either has
// looked at it.
type Line struct {
	// Context are the words behind each -c: "joinTime=4m".
	Context []string
	// Variables are the names of what stood on the make line: CHANNEL, SET.
	Variables []string
	// NoChannel is set where a target needs no channel (synth, destroy).
	NoChannel bool
	// File is the settings file; without a name there is none.
	File File
}

// File is a settings file: package settingsfile.
type File struct {
	Name string
	Text []byte
}

// ReadFile reads a settings file; no name is no file.
func ReadFile(name string) (File, error) {
	if name == "" {
		return File{}, nil
	}
	text, err := os.ReadFile(name)
	return File{name, text}, err
}

// placeholder is the channel of a target that needs none.
const placeholder = "C0123456789"

// Read turns the line, and the file below it, into a CDK context, and says which words are
// none. As with the CDK command line the last of several counts.
func (l Line) Read() (map[string]any, []error) {
	context, _, wrong := l.Below(nil, "")
	if l.NoChannel && context[contextOf(config.Channel)] == nil {
		context[contextOf(config.Channel)] = placeholder
	}
	for _, text := range l.Context {
		key, value, ok := strings.Cut(text, "=")
		if !ok || !rollcallKey.MatchString(key) {
			wrong = append(wrong, notAPair(text))
			continue
		}
		context[key] = value
	}
	for _, v := range l.Variables {
		if err := misspelt(v); err != nil {
			wrong = append(wrong, err)
		}
	}
	return context, wrong
}

// Below is what the file says beside a context, which wins over it, with the address of a
// release's pages where neither says one; and the tags of the stack.
func (l Line) Below(context map[string]any, pages string) (more map[string]any, tags map[string]string, wrong []error) {
	file := settingsfile.Decode(l.File.Text)
	for _, err := range file.Problems {
		wrong = append(wrong, fmt.Errorf("%s, %w", l.File.Name, err))
	}
	more = file.Context
	if docs := contextOf(config.DocsURL); pages != "" && more[docs] == nil {
		more[docs] = pages
	}
	// What a target that needs no channel has in its place gives way to the file's.
	maps.DeleteFunc(more, func(key string, _ any) bool { return context[key] != nil && context[key] != placeholder })
	return more, file.Tags, wrong
}

// Parse reads the settings of the line and its file. What is wrong with one of the file's says
// where it stands.
func (l Line) Parse() (chosen Settings, context map[string]any, err error) {
	context, wrong := l.Read()
	chosen, err = Parse(context)
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) {
		return chosen, context, errors.Join(append(wrong, err)...)
	}
	file := settingsfile.Decode(l.File.Text)
	for _, err := range joined.Unwrap() {
		var p Problem
		switch {
		case l.File.Name == "" || !errors.As(err, &p):
		case context[p.Key] == nil:
			err = fmt.Errorf("%s: %s: %w", l.File.Name, settingsfile.Place(p.Key), p.Err)
		case context[p.Key] == file.Context[p.Key]:
			at := file.Positions[p.Key]
			err = fmt.Errorf("%s, %w", l.File.Name, settingsfile.Problem{Position: at, Text: "is not valid: " + p.Err.Error()})
		}
		wrong = append(wrong, err)
	}
	return chosen, context, errors.Join(wrong...)
}

// Overridden are the settings of the file that the line sets to something else.
func (l Line) Overridden() []string {
	context, _ := l.Read()
	file := settingsfile.Decode(l.File.Text)
	var list []string
	for _, k := range Keys() {
		if at, ok := file.Positions[k.Name]; ok && file.Context[k.Name] != context[k.Name] {
			list = append(list, fmt.Sprintf("%s: the line wins over %s (%s, line %d)", name(k.Name), at.Place, l.File.Name, at.Line))
		}
	}
	return list
}

// notAPair is about a word of SET.
func notAPair(text string) error {
	var keys []string
	for _, k := range Keys() {
		keys = append(keys, k.Name)
	}
	if meant := settingsfile.Nearest(text, keys); meant != "" {
		return fmt.Errorf("%s: %q has no value (make … %s)", makeSet, text, word(meant))
	}
	return fmt.Errorf(`%s: %q is not of the form key=value (make … SET="joinTime=4m logRetentionDays=90": a blank between two settings, none within one)`, makeSet, text)
}

// misspelt says that a variable of the make line was probably meant to be one
// of ours: make itself takes any name, and CLUSTER=prod would watch all
// clusters without a word.
func misspelt(variable string) error {
	known := []string{makeChannel, makeClusters, makeSet, makeSettings}
	meant := settingsfile.Nearest(variable, known)
	if meant == "" || meant == variable {
		return nil
	}
	return fmt.Errorf("%s: is not a variable of this Makefile; did you mean %s?", variable, meant)
}

// ForFile are all keys, for the JSON schema and the sample of the settings file.
func ForFile() []settingsfile.Key {
	var list []settingsfile.Key
	for _, k := range Keys() {
		list = append(list, settingsfile.Key(k))
	}
	return list
}

const pageHead = `<!-- Written by make generate. Do not edit. -->

# Settings

They are set when deploying, in a file: ` + "`make deploy SETTINGS=rollcall.yaml`" + `. [deploy/rollcall.yaml](../deploy/rollcall.yaml) is that file with every setting, its default and an example, all commented out but the channel: copy it, with the schema beside it. Lists and mappings are YAML's own; each setting has one place, given below (slack.channel is channel in the section slack), and can be written at the top of the file by its name, too. [Its JSON schema](../deploy/rollcall.schema.json) lets an editor complete and check it.

Or on the line: ` + "`make deploy CHANNEL=C0123456789 CLUSTERS=prod,dev SET=\"joinTime=4m logRetentionDays=90\"`" + `
(` + "`CHANNEL` is `slackChannel`, `CLUSTERS` is `clusters`" + `). What is on the line wins over the file. The texts below describe this one-line form.

A wrong value stops ` + "`make deploy`" + ` with an error before anything is deployed, with the line of the file that it is in.

` + "`tags`" + ` in the file are the stack's tags, which CloudFormation puts on every resource that takes tags: ` + "`tags: {cost-center: \"1234\"}`" + `.
`

// Page is docs/settings.md: every key that an operator can set.
func Page() string {
	var b strings.Builder
	b.WriteString(pageHead)
	for _, k := range Keys() {
		value := "default `" + k.Default + "`"
		if k.Default == "" {
			value = "no default"
		}
		fmt.Fprintf(&b, "\n## %s\n\n*%s*. %s In the file: `%s`.\n", k.Name, value, k.About, settingsfile.Place(k.Name))
	}
	return b.String()
}

// Problem is one thing that is wrong with what an operator wrote, with the
// word of the make line that says it.
type Problem struct {
	// Key is the CDK context key: "joinTime".
	Key string
	Err error
}

func (p Problem) Error() string {
	return fmt.Sprintf("%s: %v (make … %s)", name(p.Key), p.Err, word(p.Key))
}

func (p Problem) Unwrap() error { return p.Err }

// The variables of the make line that an operator sets.
const (
	makeChannel  = "CHANNEL"
	makeClusters = "CLUSTERS"
	makeSet      = "SET"
	makeSettings = "SETTINGS"
)

// name is what the make line calls a key.
func name(key string) string {
	switch key {
	case contextOf(config.Channel):
		return makeChannel
	case contextOf(config.Clusters):
		return makeClusters
	}
	return key
}

// word is how a key is set on the make line.
func word(key string) string {
	switch n := name(key); n {
	case makeChannel:
		return n + "=C0123456789"
	case makeClusters:
		return n + "=prod,dev"
	}
	return fmt.Sprintf("%s=%q", makeSet, key+"=…")
}

// problem judges one of the functions' settings alone, so that each mistake is
// said with its own key.
func problem(s config.Setting, environment map[spec.Variable]string) error {
	_, err := config.Load(func(name string) string { return environment[spec.Variable(name)] }, []spec.Variable{s.Variable})
	return asProblem(err)
}

// asProblem says what package config refuses in the words of the make line.
func asProblem(err error) error {
	var wrong *config.SettingError
	if !errors.As(err, &wrong) {
		return err
	}
	for _, s := range config.Settings() {
		if s.Variable == wrong.Variable {
			return Problem{Key: s.Context, Err: fmt.Errorf("%w. %s", wrong.Err, s.About)}
		}
	}
	return err
}

// VPC is where the functions that talk to Kubernetes run, if not outside of
// all VPCs: a cluster with a private endpoint only answers inside its VPC alone.
type VPC struct {
	SubnetIDs        []string
	SecurityGroupIDs []string
}

// Given reports whether the operator named a VPC.
func (v VPC) Given() bool { return len(v.SubnetIDs) > 0 }

// The most that Lambda takes (CreateFunction, VpcConfig).
const (
	maxSubnets        = 16
	maxSecurityGroups = 5
)

var (
	// EC2's ids have 8 or, since 2018, 17 hexadecimal digits.
	subnetID        = regexp.MustCompile(`^subnet-([0-9a-f]{8}|[0-9a-f]{17})$`)
	securityGroupID = regexp.MustCompile(`^sg-([0-9a-f]{8}|[0-9a-f]{17})$`)
)

// vpc reads the two settings, neither of which is of use alone.
func vpc(subnets, groups string) (VPC, []error) {
	var wrong []error
	bad := func(key string, err error) {
		if err != nil {
			wrong = append(wrong, Problem{Key: key, Err: err})
		}
	}
	v := VPC{SubnetIDs: list(subnets), SecurityGroupIDs: list(groups)}
	bad(VPCSubnetIDs, checkIDs(v.SubnetIDs, subnetID, "a subnet (subnet-0123456789abcdef0)", maxSubnets))
	bad(VPCSecurityGroupIDs, checkIDs(v.SecurityGroupIDs, securityGroupID, "a security group (sg-0123456789abcdef0)", maxSecurityGroups))
	switch {
	case len(v.SubnetIDs) > 0 && len(v.SecurityGroupIDs) == 0:
		bad(VPCSecurityGroupIDs, fmt.Errorf("is not set, but %s is: create a security group that allows outbound port 443, allow it in the clusters' security groups, and name it here", VPCSubnetIDs))
	case len(v.SubnetIDs) == 0 && len(v.SecurityGroupIDs) > 0:
		bad(VPCSubnetIDs, fmt.Errorf("is not set, but %s is: name the private subnets too, or neither", VPCSecurityGroupIDs))
	}
	return v, wrong
}

// list splits at commas; nothing is no list.
func list(text string) []string {
	if text == "" {
		return nil
	}
	parts := strings.Split(text, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}

func checkIDs(ids []string, form *regexp.Regexp, what string, most int) error {
	for i, id := range ids {
		if !form.MatchString(id) {
			return fmt.Errorf("%q is not the id of %s", id, what)
		}
		if slices.Contains(ids[:i], id) {
			return fmt.Errorf("%s is named twice", id)
		}
	}
	if len(ids) > most {
		return fmt.Errorf("names %d, Lambda takes %d at most", len(ids), most)
	}
	return nil
}
