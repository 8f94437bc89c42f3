package stage

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"rollcall/shared/spoke"
	"rollcall/stage/platform/pattern"
	"rollcall/stage/platform/template"
	"rollcall/stage/platform/wire"
	"rollcall/stage/simaws"
	"rollcall/stage/simaws/deployment"
	"rollcall/stage/simaws/kubeapi"
	"rollcall/stage/simaws/s3"
	"rollcall/stage/simaws/world"
	"rollcall/stage/simaws/worldfile"
)

// Spoke is another account or region that the stage's stack watches.
type Spoke struct {
	spoke.ID
	// World is the path of its world file, which is made that account's and region's.
	World string
	// Parameters are those of its template; those that are missing are right for the hub.
	Parameters map[string]string
	// Change, if any, changes its world before it begins.
	Change func(*worldfile.File)
	// Faults are those of the calls that its account answers.
	Faults []simaws.FaultRule
	// Organization is the organization in which the hub must be.
	Organization string
	// OptedIn are the settings with which its template was written (make deploy-spoke,
	// SET): what its clusters opted in to.
	OptedIn map[string]string
}

// SpokeExternalID is the external id that the stage's hub and spokes have.
const SpokeExternalID = "rollcall-stage-1"

// spokeStage is a spoke that is there.
type spokeStage struct {
	id       spoke.ID
	optedIn  map[string]string
	world    *world.World
	cloud    *simaws.Cloud
	buckets  *simaws.Buckets
	template *template.Template
	forwards []forward
	// deployment is its stack as IAM and EventBridge describe it.
	deployment *deployment.API
	// disabled is set where the account has not enabled the region, organization where the
	// spoke trusts the hub as long as it is in that one.
	disabled     bool
	organization string
}

// forward is a rule of the spoke.
type forward struct {
	pattern *pattern.Pattern
	bus     string
}

// startSpokes starts the spokes' accounts. Their stack is that of the spoke's template; on a stage
// that began empty CloudFormation makes it.
func (s *Stage) startSpokes() error {
	s.spokes = map[spoke.ID]*spokeStage{}
	s.letSpokesForward()
	for _, o := range s.options.Spokes {
		x, err := s.startSpoke(o)
		if err != nil {
			return fmt.Errorf("spoke %s: %w", o.ID, err)
		}
		s.spokes[o.ID] = x
	}
	return nil
}

func (s *Stage) startSpoke(o Spoke) (*spokeStage, error) {
	x := &spokeStage{id: o.ID, buckets: s.buckets(), optedIn: o.OptedIn, organization: o.Organization}
	x.deployment = deployment.New(&template.Template{}, nil, nil, s.Clock.Now())
	if s.options.Empty {
		x.template = nothing(o.Account, o.Region)
	} else if err := s.DeploySpoke(x, o.Parameters); err != nil {
		return nil, err
	}
	source, err := os.ReadFile(o.World)
	if err != nil {
		return nil, err
	}
	file, err := worldfile.Parse(o.World, source)
	if err != nil {
		return nil, err
	}
	source = []byte(strings.NewReplacer(file.Account, o.Account, file.Region, o.Region).Replace(string(source)))
	if file, err = worldfile.Parse(o.World, source); err != nil {
		return nil, err
	}
	if o.Change != nil {
		o.Change(file)
	}
	if x.world, err = world.New(file, world.Options{Seed: 1, Events: func(e json.RawMessage) { s.forward(x, e) }, Log: s.log}); err != nil {
		return nil, err
	}
	x.world.KnowRoles(x.deployment.RoleID)
	group, rules, err := s.options.rights()
	if err != nil {
		return nil, err
	}
	buckets := s3.New(nil, o.Account, o.Region, s.now)
	x.cloud, err = simaws.Start(s.ctx, simaws.Config{
		Account: o.Account, Region: o.Region, World: x.world.API(), EntryAdmits: x.world.EntryAdmits, History: x.world.CloudTrail(),
		Host:       strings.ReplaceAll(o.String(), "/", "-") + ".",
		Identities: []simaws.Identity{adminOf(o.ID)},
		Clusters:   x.world.Clusters(), Objects: s.withRBAC(objects(x.world)), Groups: map[string][]kubeapi.Rule{group: rules},
		Deployment: x.deployment, Invoke: s.invoke, Within: s.within(o.ID),
		S3: buckets, CloudFormation: s.stacks(place{
			o.ID, x.world.API(), buckets,
			func(t *template.Template) error { return s.runSpoke(x, t) },
			func(t *template.Template, _ []template.Resource) {
				if t.StackName == x.template.StackName {
					s.LoseSpoke(o.ID)
				}
			},
		}),
		Admit:  func(ctx context.Context, call *wire.Call, in any) error { return s.admitSpoke(ctx, x, call, in) },
		Faults: simaws.NewFaultRules(o.Faults, s.Clock.Now),
		Now:    s.Clock.Now, Wall: time.Now, Log: s.log, Network: s.network,
	})
	if err != nil {
		return nil, err
	}
	s.onClose(x.cloud.Close)
	for _, name := range x.world.Clusters() {
		if endpoint, ca, ok := x.cloud.Kubernetes(name); ok {
			x.world.Serve(name, endpoint, ca)
		}
		if s.options.Empty {
			continue // access entries are an operator's
		}
		if err := admitTo(x.world.API(), name, roleOf(x.template, "reader"), group); err != nil {
			return nil, err
		}
	}
	x.world.Advance(s.Clock.Now())
	s.background(func() { s.driveWorld(x.world) })
	return x, nil
}

// DeploySpoke deploys the spoke's template with other parameters. A template without roles
// is a stack that was deleted.
func (s *Stage) DeploySpoke(x *spokeStage, parameters map[string]string) error {
	source, err := s.options.read(s.options.SpokeTemplate)
	if err != nil {
		return err
	}
	values := map[string]string{"HubAccount": s.Template.AccountID, "HubRegion": s.Template.Region, "ExternalId": SpokeExternalID}
	maps.Copy(values, parameters)
	t, err := template.Parse(source, template.Options{AccountID: x.id.Account, Region: x.id.Region, Parameters: values})
	if err != nil {
		return err
	}
	more, err := s.changing(x, t)
	if err != nil {
		return err
	}
	t.Roles = append(t.Roles, more...)
	if x.organization != "" {
		inOrganization(t, x.organization)
	}
	return s.runSpoke(x, t)
}

// runSpoke has a spoke's rules forward events, and its roles be assumed.
func (s *Stage) runSpoke(x *spokeStage, t *template.Template) error {
	var list []forward
	for _, r := range t.Rules {
		p, err := pattern.Compile(r.Pattern)
		if err != nil {
			return err
		}
		list = append(list, forward{p, r.Targets[0].ARN})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	x.template, x.forwards = t, list
	x.deployment.Replace(s.asIAMTells(t), s.Clock.Now())
	return nil
}

// asIAMTells is a spoke's template whose roles trust the functions' roles by the names that
// those have here, which are the functions' own.
func (s *Stage) asIAMTells(t *template.Template) *template.Template {
	told := *t
	told.Roles = slices.Clone(t.Roles)
	for i, r := range told.Roles {
		told.Roles[i].Trust = slices.Clone(r.Trust)
		for k, st := range told.Roles[i].Trust {
			conditions := maps.Clone(st.Conditions)
			if forms := conditions["ArnLike"]["aws:PrincipalArn"]; forms != nil {
				var arns []string
				for _, f := range s.Template.Functions {
					deployed := s.deployedRole(f.Name)
					if slices.ContainsFunc(forms, func(form string) bool { return strings.HasPrefix(deployed, strings.TrimSuffix(form, "*")) }) {
						arns = append(arns, simaws.RoleIdentity(s.Template.AccountID, f.Name).RoleARN)
					}
				}
				conditions["ArnLike"] = map[string][]string{"aws:PrincipalArn": arns}
			}
			told.Roles[i].Trust[k].Conditions = conditions
		}
	}
	return &told
}

// spokesBus is the ARN of the hub's bus for what spokes forward.
func (s *Stage) spokesBus() string {
	return "arn:aws:events:" + s.Template.Region + ":" + s.Template.AccountID + ":event-bus/" + SpokesBus
}

// SpokesBus is the name of that bus.
const SpokesBus = "rollcall-spokes"

// letSpokesForward makes the bus, with the policy that infra gives it (infra,
// TestHubsBusForSpokes): it takes in what the accounts of the setting spokes send.
func (s *Stage) letSpokesForward() {
	var accounts []string
	for part := range strings.SplitSeq(s.options.Settings["ROLLCALL_SPOKES"], ",") {
		if account, _, ok := strings.Cut(part, "/"); ok {
			accounts = append(accounts, strconv.Quote("arn:aws:iam::"+account+":root"))
		}
	}
	if len(accounts) > 0 {
		s.Deployment.AddBus(SpokesBus, `{"Version":"2012-10-17","Statement":[{"Sid":"SpokesForward","Effect":"Allow","Principal":{"AWS":[`+strings.Join(accounts, ",")+
			`]},"Action":"events:PutEvents","Resource":"`+s.spokesBus()+`"}]}`)
		s.Deployment.AddRules(copies(s.Template))
	}
}

// copies are the rules of that bus: those on what AWS tells, under names of their own
// (infra, TestHubsBusForSpokes). What wakes functions are the rules that they are copies of.
func copies(t *template.Template) []template.Rule {
	var list []template.Rule
	for _, r := range t.Rules {
		var p struct{ Source []string }
		if r.Bus != "default" || json.Unmarshal(r.Pattern, &p) != nil || len(p.Source) == 0 || slices.ContainsFunc(p.Source, func(s string) bool { return !strings.HasPrefix(s, "aws.") }) {
			continue
		}
		renamed := func(text string) string {
			i := strings.LastIndex(text, "Rule")
			return text[:i] + "OfSpokes" + text[i:]
		}
		r.LogicalID, r.Name, r.Bus = renamed(r.LogicalID), renamed(r.Name), SpokesBus
		// On a custom bus it has the bus's name in it (EventBridge, service
		// authorization reference, resource types: rule-on-custom-event-bus).
		r.ARN = strings.Replace(renamed(r.ARN), ":rule/", ":rule/"+SpokesBus+"/", 1)
		list = append(list, r)
	}
	return list
}

func roleOf(t *template.Template, role string) string {
	for _, r := range t.Roles {
		if strings.Contains(r.Name, "-"+role+"-") {
			return r.ARN
		}
	}
	return ""
}

// forward does what the spoke's rules do with an event, and the policy of the hub's bus.
func (s *Stage) forward(x *spokeStage, event json.RawMessage) {
	s.mu.Lock()
	forwards := slices.Clone(x.forwards)
	s.mu.Unlock()
	want := s.spokesBus()
	bus, err := s.busFor(x, event)
	if err != nil {
		s.log.Error("forward an event", "spoke", x.id, "error", err)
	}
	if bus == "" {
		return
	}
	for _, f := range forwards {
		if fits, err := f.pattern.Matches(event); err != nil || !fits || f.bus != want {
			continue
		}
		s.putOrLog(bus, event)
		return // a rule of the hub is woken by an event once, however many of the spoke's fit
	}
}

// busFor returns the hub's bus that takes a spoke's event, or "". A template that has the bus says
// in its policy what it takes. On the stage's own template it is that of the accounts of the
// setting spokes, and the rules of the bus are copies of those on the default bus (infra,
// TestHubsBusForSpokes), which stand for them.
func (s *Stage) busFor(x *spokeStage, event json.RawMessage) (string, error) {
	if !slices.ContainsFunc(s.Template.Buses, func(b template.EventBus) bool { return b.Name == SpokesBus }) {
		if !strings.Contains(s.options.Settings["ROLLCALL_SPOKES"], x.id.Account) {
			return "", nil
		}
		return defaultBus, nil
	}
	var e struct{ Source string }
	if err := json.Unmarshal(event, &e); err != nil {
		return "", err
	}
	ok, err := template.Allows(trusted(s.Template.BusPolicies, s.spokesBus(), x.id.Account), "events:PutEvents", s.spokesBus(), map[string][]string{"events:source": {e.Source}})
	if err != nil || !ok {
		return "", err
	}
	return SpokesBus, nil
}

// maySpoke reports whether a function may assume a role of a spoke: the role's trust policy
// lets it. That its own policy does is infra's to hold (TestHubAssumesSpokesRoles).
func (s *Stage) maySpoke(caller simaws.Identity, in *sts.AssumeRoleInput) (known, ok bool, err error) {
	arn := aws.ToString(in.RoleArn)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.spokes {
		for _, r := range x.template.Roles {
			if r.ARN != arn {
				continue
			}
			ok, err := template.Allows(trusted(r.Trust, arn, s.Template.AccountID), "sts:AssumeRole", arn, map[string][]string{
				"sts:ExternalId": {aws.ToString(in.ExternalId)}, "aws:PrincipalArn": {s.deployedRole(caller.Name)}, "aws:PrincipalOrgID": {s.organization},
			})
			return true, ok, err
		}
	}
	return false, false, nil
}

// trusted are the statements of a policy that name an account: by its ARN or by its id, which is
// the same (IAM user guide, "AWS JSON policy elements: Principal").
func trusted(trust []template.Statement, arn, account string) []template.Statement {
	var named []template.Statement
	for _, t := range trust {
		if slices.Contains(t.Principals, "AWS:arn:aws:iam::"+account+":root") || slices.Contains(t.Principals, "AWS:"+account) {
			t.Resources = []string{arn}
			named = append(named, t)
		}
	}
	return named
}

// deployedRole is a function's role as CloudFormation would name it.
func (s *Stage) deployedRole(function string) string {
	for _, f := range s.Template.Functions {
		for _, r := range s.Template.Roles {
			if f.Name == function && r.ARN == f.RoleARN {
				return "arn:aws:iam::" + s.Template.AccountID + ":role/Rollcall-" + r.LogicalID + "-1A2B3C4D5E6F"
			}
		}
	}
	return "arn:aws:iam::" + s.Template.AccountID + ":role/" + function
}

// admitSpoke decides whether a spoke's account takes a call of the hub's: whether it has
// enabled the region, by its request buckets, which are the account's own, and by the policy
// of the role that it was assumed as.
func (s *Stage) admitSpoke(ctx context.Context, x *spokeStage, call *wire.Call, in any) error {
	s.mu.Lock()
	disabled := x.disabled
	s.mu.Unlock()
	if disabled && call.Service != "iam" && call.Service != "route53" {
		return regionDisabled(call.Service)
	}
	if x.buckets != nil {
		if err := x.buckets.Admit(ctx, call, in); err != nil {
			return err
		}
	}
	if !judged(call.Service, call.Operation) || !strings.Contains(call.Principal.ARN, ":assumed-role/") {
		return nil
	}
	s.mu.Lock()
	roles := x.template.Roles
	s.mu.Unlock()
	for _, r := range roles {
		if strings.Contains(call.Principal.ARN, ":assumed-role/"+r.Name+"/") {
			ok, err := mayCall(r.Statements, call.Action(), in, things{account: x.id.Account, region: x.id.Region, api: x.world.API()})
			if err != nil {
				return err
			}
			if ok {
				return nil
			}
		}
	}
	s.log.Warn("IAM does not allow a call", "spoke", x.id, "principal", call.Principal.ARN, "action", call.Action())
	return wire.Denied
}
