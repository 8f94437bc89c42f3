package main

import (
	"fmt"
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/jsii-runtime-go"

	"rollcall/infra/settings"
	"rollcall/infra/specs"
	"rollcall/shared/config"
	"rollcall/shared/spec"
	"rollcall/shared/spoke"

	enicleanup "rollcall/functions/eni-cleanup/spec"
	remediate "rollcall/functions/remediate/spec"
)

// spokesBusName is the name of the hub's bus for what spokes forward: another than that of
// what Rollcall tells, so that no spoke can put events there.
func spokesBusName(prefix string) string { return prefix + "-spokes" }

// newSpokesBus makes the bus that takes in what the named accounts forward, of the sources
// that Rollcall takes in, and nothing else; nil where there are no spokes.
//
// An organization is no condition here: accounts are named, also those outside it. That the
// source is there is asked too, as ForAllValues holds of no values (IAM user guide, "Single-
// valued vs. multivalued context keys"; EventBridge user guide, "Using IAM policy conditions":
// events:source).
func newSpokesBus(stack awscdk.Stack, chosen settings.Settings, list []spec.Spec) awsevents.CfnEventBus {
	if len(chosen.Spokes) == 0 {
		return nil
	}
	bus := awsevents.NewCfnEventBus(stack, jsii.String("SpokesBus"), &awsevents.CfnEventBusProps{
		Name:        jsii.String(spokesBusName(chosen.Prefix())),
		Description: jsii.String("What the spokes forward to Rollcall: events of AWS alone, of the accounts that the setting spokes names"),
	})
	var accounts []string
	for _, s := range chosen.Spokes {
		accounts = append(accounts, s.Account)
	}
	slices.Sort(accounts)
	awsevents.NewCfnEventBusPolicy(stack, jsii.String("SpokesBusPolicy"), &awsevents.CfnEventBusPolicyProps{
		EventBusName: bus.Ref(),
		StatementId:  jsii.String("SpokesForward"),
		Statement: map[string]any{
			"Sid":       "SpokesForward",
			"Effect":    "Allow",
			"Principal": map[string]any{"AWS": slices.Compact(accounts)},
			"Action":    "events:PutEvents",
			"Resource":  bus.AttrArn(),
			"Condition": map[string]any{
				"ForAllValues:StringEquals": map[string]any{"events:source": sources(list)},
				"Null":                      map[string]any{"events:source": "false"},
			},
		},
	})
	return bus
}

// sources are those of all that spokes forward.
func sources(list []spec.Spec) []string {
	var names []string
	for _, r := range specs.Forwarded(list) {
		names = append(names, specs.SourcesOf(r)...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// mostAssumed keeps a statement within a managed policy of 6,144 characters, should it not
// find room in the role: 40 ARNs of at most 110.
const mostAssumed = 40

// assumeStatements let a function assume its roles in the spokes: the reader of each, and
// what changes something only where a cluster of the spoke has opted in.
func assumeStatements(function spec.Spec, chosen settings.Settings) ([]statement, error) {
	var list []statement
	for _, role := range function.Assumes {
		var arns []string
		for _, s := range chosen.Spokes {
			there, err := hasRole(s.ID, role, chosen)
			if err != nil {
				return nil, err
			}
			if there {
				arns = append(arns, config.SpokeRoleARN(chosen.Prefix(), role, s.ID))
			}
		}
		i := 0
		for some := range slices.Chunk(arns, mostAssumed) {
			i++
			list = append(list, statement{sid: fmt.Sprintf("AssumeSpoke%s%d", camel(string(role)), i), actions: []string{"sts:AssumeRole"}, resources: some})
		}
	}
	return list, nil
}

// hasRole tells whether a spoke has a role.
func hasRole(of spoke.ID, role spec.SpokeRole, chosen settings.Settings) (bool, error) {
	if role == spec.SpokeReader {
		return true, nil
	}
	grants, err := spokeGrants(of, role, chosen)
	return len(grants) > 0, err
}

// spokeGrants are what a spoke's role may change: what the hub's own function may, with the
// same conditions, of the clusters of the spoke that have opted in.
func spokeGrants(of spoke.ID, role spec.SpokeRole, chosen settings.Settings) ([]spec.Grant, error) {
	getenv := func(name string) string { return chosen.Environment[spec.Variable(name)] }
	switch role {
	case spec.SpokeCleaner:
		return enicleanup.DeletesIn(of)(getenv)
	case spec.SpokeRemediator:
		return remediate.ChangesIn(of)(getenv)
	}
	return nil, nil
}
