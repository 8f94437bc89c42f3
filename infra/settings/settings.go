// Package settings turns the CDK context into what the stack and the
// functions are told. What is wrong ends the synth with a sentence, before
// anything is deployed.
package settings

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"rollcall/shared/config"
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
	// MakesTopic tells that a target is a topic of the stack's own, TargetEmails who is
	// subscribed to it.
	MakesTopic   bool
	TargetEmails []string
	// Dashboard tells that there is one.
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
	}
	bad := func(key, format string, values ...any) {
		wrong = append(wrong, Problem{Key: key, Err: fmt.Errorf(format, values...)})
	}

	functions, environment, refused := functionSettings(given)
	wrong = append(wrong, refused...)
	var err error
	s.Environment = environment
	s.Spokes, s.Relays = functions.Spokes, functions.Relays
	if s.Spoke != "" && s.Spoke != AnySpoke {
		if _, err := spoke.Parse(s.Spoke); err != nil {
			bad(SpokeTemplate, "%w, or any", err)
		}
	}
	if s.Organization != "" && !organizationID.MatchString(s.Organization) {
		bad(Organization, "%q is not the id of an organization (o-a1b2c3d4e5)", s.Organization)
	}
	s.AccessClusters = functions.In(spoke.ID{}).Clusters
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
			bad(TargetEmail, "%q is there twice", address)
		default:
			s.TargetEmails = append(s.TargetEmails, address)
		}
	}
	if len(s.TargetEmails) > 0 && !s.MakesTopic {
		bad(TargetEmail, "is for the stack's own topic: set targets to sns, or subscribe the addresses to your topic yourself")
	}
	s.LogRetentionDays, err = strconv.Atoi(given[LogRetentionDays])
	if err != nil || !slices.Contains(retentions, s.LogRetentionDays) {
		bad(LogRetentionDays, "%q is none of %v", given[LogRetentionDays], retentions)
	}
	if s.Dashboard = given[Dashboard] == "on"; !s.Dashboard && given[Dashboard] != "off" {
		bad(Dashboard, "%q is neither on nor off", given[Dashboard])
	}
	if len(wrong) > 0 {
		return Settings{}, errors.Join(wrong...)
	}
	return s, nil
}

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
	// organizationID is the form of Organizations (API reference, Organization, Id).
	organizationID = regexp.MustCompile(`^o-[a-z0-9]{10,32}$`)
	topicARN       = regexp.MustCompile(`^arn:aws[a-z-]*:sns:[a-z0-9-]+:\d{12}:[A-Za-z0-9_-]{1,256}$`)
	// retentions is CloudWatch Logs' own list (PutRetentionPolicy).
	retentions = []int{1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653}
)

// ours is what a key of Rollcall looks like. The CLI's and the library's own
// keys hold a colon, a hyphen or an at sign.
var ours = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]*$`)

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
		if !ours.MatchString(name) {
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
	if meant := nearest(name, known); meant != "" {
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
