package world

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"

	"rollcall/local/simaws/deepcopy"
	"rollcall/local/simaws/defaults"
	"rollcall/local/simaws/eks"
	"rollcall/local/simaws/karpenter"
	"rollcall/local/simaws/kubernetes"
	"rollcall/local/simaws/lifecycle"
	"rollcall/local/simaws/state"
	"rollcall/local/simaws/table"
	"rollcall/local/simaws/trail"
	"rollcall/local/simaws/worldfile"
)

// The times of a healthy node where a world says none: m5.large with the
// AL2023 image registers after about 40 s and is Ready 15 s later.
const (
	defaultRunningSeconds = 8
	defaultBootSeconds    = 40
	defaultReadySeconds   = 15
)

// New makes the world that a file describes. What the file leaves out of a
// resource and AWS would always show (owner, ARN, state) is filled in.
func New(file *worldfile.File, opts Options) (*World, error) {
	f := deepcopy.Of(*file)
	f.Account = cmp.Or(f.Account, "111122223333")
	f.Region = cmp.Or(f.Region, "us-west-2")
	if f.Time.IsZero() {
		return nil, fmt.Errorf("world %s: no time", f.Name)
	}
	f.Nodes.RunningSeconds = cmp.Or(f.Nodes.RunningSeconds, defaultRunningSeconds)
	f.Nodes.BootSeconds = cmp.Or(f.Nodes.BootSeconds, defaultBootSeconds)
	f.Nodes.ReadySeconds = cmp.Or(f.Nodes.ReadySeconds, defaultReadySeconds)
	f.EKS.Rules = eks.CompleteRules(f.EKS.Rules)
	f.Trail.Delay = cmp.Or(f.Trail.Delay, trail.EventTime)
	if f.Trail.Lag == 0 && f.Trail.Spread == 0 {
		f.Trail.Spread = trail.LookupSpread
	}
	f.Trail.Lag = cmp.Or(f.Trail.Lag, trail.LookupTime)
	log := opts.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	w := &World{state.New(&f, opts.Seed, log)}
	for _, load := range []func(*state.State, *worldfile.File) error{
		loadIAM, loadNetwork, loadTemplates, loadClusters, loadGroups, loadNodegroups,
		loadInstances, loadInterfaces, loadPrimaries, loadGatewayInterfaces,
		loadMembers, loadVolumes, loadManaged, kubernetes.Load, loadFreeAddresses, lifecycle.CheckSpot, kubernetes.LoadSets, kubernetes.LoadShifts, karpenter.Load,
	} {
		if err := load(w.State, &f); err != nil {
			return nil, fmt.Errorf("world %s: %w", f.Name, err)
		}
	}
	if err := w.enterTimeline(f.Timeline); err != nil {
		return nil, fmt.Errorf("world %s: %w", f.Name, err)
	}
	if err := trail.LoadHistory(w.State, f.Trail.History); err != nil {
		return nil, fmt.Errorf("world %s: %w", f.Name, err)
	}
	if err := eks.LoadChanges(w.State, f.EKS.Changes); err != nil {
		return nil, fmt.Errorf("world %s: %w", f.Name, err)
	}
	// What the start itself made known is history, not news.
	w.Begin(opts.Events)
	lifecycle.ReclaimAtTimes(w.State)
	for _, g := range w.Groups.All() {
		lifecycle.ReconcileLater(w.State, g, lifecycle.ReconcileTime)
	}
	return w, nil
}

// fill puts a list into a table; name says what a resource without an id is.
func fill[T any](t *table.Table[T], list []T, name string, id func(*T) *string) error {
	var errs []error
	for i := range list {
		v := &list[i]
		key := aws.ToString(id(v))
		switch {
		case key == "":
			errs = append(errs, fmt.Errorf("%s[%d] has no id", name, i))
		case t.Get(key) != nil:
			errs = append(errs, fmt.Errorf("%s[%d]: %s is listed twice", name, i, key))
		default:
			t.Put(key, v)
		}
	}
	return errors.Join(errs...)
}

func loadIAM(w *state.State, f *worldfile.File) error {
	for i := range f.IAM.Roles {
		r := &f.IAM.Roles[i]
		defaults.Set(&r.Path, "/")
		defaults.Set(&r.Arn, fmt.Sprintf("arn:aws:iam::%s:role%s%s", w.Account, *r.Path, aws.ToString(r.RoleName)))
		defaults.Set(&r.RoleId, "AROA"+strings.ToUpper(w.IDs.Hex(17)))
		defaults.Set(&r.CreateDate, w.Start.Add(-state.Age))
		defaults.Set(&r.MaxSessionDuration, 3600)
	}
	for i := range f.IAM.InstanceProfiles {
		p := &f.IAM.InstanceProfiles[i]
		defaults.Set(&p.Path, "/")
		defaults.Set(&p.Arn, fmt.Sprintf("arn:aws:iam::%s:instance-profile%s%s", w.Account, *p.Path, aws.ToString(p.InstanceProfileName)))
		defaults.Set(&p.InstanceProfileId, "AIPA"+strings.ToUpper(w.IDs.Hex(17)))
		defaults.Set(&p.CreateDate, w.Start.Add(-state.Age))
	}
	return errors.Join(
		soundAliases(f.IAM.AccountAliases),
		fill(w.Roles, f.IAM.Roles, "iam.Roles", func(r *worldfile.RoleFile) *string { return r.RoleName }),
		fill(w.Profiles, f.IAM.InstanceProfiles, "iam.InstanceProfiles", func(p *iamtypes.InstanceProfile) *string { return p.InstanceProfileName }),
		fill(w.Policies, f.IAM.Policies, "iam.Policies", func(p *iamtypes.ManagedPolicyDetail) *string { return p.Arn }),
		completeProfiles(w),
	)
}

// alias is IAM's form of an account alias, but for two hyphens in a row: "lowercase letters,
// digits, and dashes. You cannot start or finish with a dash, nor can you have two dashes in a
// row", 3 to 63 of them (IAM API reference, CreateAccountAlias).
var alias = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$`)

func soundAliases(list []string) error {
	if len(list) > 1 {
		return fmt.Errorf("iam.AccountAliases: an account has one at most, not %d", len(list))
	}
	for _, a := range list {
		if !alias.MatchString(a) || strings.Contains(a, "--") {
			return fmt.Errorf("iam.AccountAliases: %q is no alias that IAM takes", a)
		}
	}
	return nil
}

// completeProfiles puts the whole role where a profile only names it.
func completeProfiles(w *state.State) error {
	for _, p := range w.Profiles.All() {
		for i := range p.Roles {
			name := aws.ToString(p.Roles[i].RoleName)
			if r := w.Roles.Get(name); r != nil {
				p.Roles[i] = r.Role
			} else if p.Roles[i].Arn == nil {
				return fmt.Errorf("iam.InstanceProfiles %s: role %q is not in the world", aws.ToString(p.InstanceProfileName), name)
			}
		}
	}
	return nil
}
