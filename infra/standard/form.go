package standard

import (
	"strconv"
	"strings"

	p "rollcall/infra/standard/parameters"
)

// parameters are the template's, as CloudFormation reads them.
func parameters() map[string]any {
	all := map[string]any{}
	for _, of := range p.All() {
		one := map[string]any{"Type": "String", "Description": of.About}
		if of.Type != "" {
			one["Type"] = of.Type
		}
		if !of.Required {
			one["Default"] = of.Default
		}
		if of.Pattern != "" && of.Type == "" {
			one["AllowedPattern"] = of.Pattern
		}
		if of.Longest > 0 {
			one["MaxLength"] = of.Longest
		}
		if len(of.Allowed) > 0 {
			one["AllowedValues"] = of.Allowed
		}
		if of.Type == "Number" && len(of.Allowed) == 0 {
			one["MinValue"], one["MaxValue"] = of.Least, of.Most
		}
		all[of.Name] = one
	}
	return all
}

// metadata has the console show the parameters by what they are for (CloudFormation template
// reference, AWS::CloudFormation::Interface).
func metadata() map[string]any {
	var groups []any
	for _, g := range p.Groups() {
		var names []any
		for _, of := range p.All() {
			if of.Group == g {
				names = append(names, of.Name)
			}
		}
		groups = append(groups, map[string]any{"Label": map[string]any{"default": string(g)}, "Parameters": names})
	}
	return map[string]any{"AWS::CloudFormation::Interface": map[string]any{"ParameterGroups": groups}}
}

// seconds is the table of JoinTime: CloudFormation cannot count.
func seconds() map[string]any {
	all := map[string]any{}
	for _, text := range p.ByName(p.JoinTime).Allowed {
		n, err := strconv.Atoi(strings.TrimSuffix(text, "m"))
		if err != nil {
			panic("standard: " + err.Error())
		}
		all[text] = map[string]any{"Seconds": strconv.Itoa(n * 60)}
	}
	return all
}

// rules refuse before anything is created what settings.Parse would refuse, and lists that do
// not fit the settings that they are computed of. A rule's functions refer to parameters alone
// (CloudFormation user guide, "Rule-specific intrinsic functions").
func rules() map[string]any {
	and := func(all ...any) any { return map[string]any{"Fn::And": all} }
	or := func(all ...any) any { return map[string]any{"Fn::Or": all} }
	none := func(name string) any { return equals(name, "") }
	is := func(name, value string) any { return not(equals(name, value)) }
	row := func(when, assert any, text string) map[string]any {
		one := map[string]any{"Assertions": []any{map[string]any{"Assert": assert, "AssertDescription": text}}}
		if when != nil {
			one["RuleCondition"] = when
		}
		return one
	}
	noChannel := or(none(p.SlackChannel), equals(p.SlackChannel, "none"))
	all := map[string]any{
		"SomebodyGetsMessages": row(noChannel, is(p.Targets, "none"), "Nobody gets a message: give SlackChannel the id of a channel, or set Targets."),
		"ButtonsNeedAChannel":  row(noChannel, equals(p.SlackActions, "off"), "SlackActions needs SlackChannel: buttons are in the messages of the Slack app."),
		"RoutesNeedAChannel":   row(noChannel, equals("Routes", "none"), "Routes needs SlackChannel: incidents that no route matches go there."),
		"VpcIsWhole": row(nil, or(and(none(p.VPCSubnetIDs), none(p.VPCSecurityGroupIDs)), and(given(p.VPCSubnetIDs), given(p.VPCSecurityGroupIDs))),
			"VpcSubnetIds and VpcSecurityGroupIds are set together, or neither."),
		"AlarmEmailIsForTheOwnTopic":  row(given(p.AlarmTopicARN), none(p.AlarmEmail), "AlarmEmail is for the stack's own topic: subscribe the address to the topic of AlarmTopicArn yourself."),
		"TargetEmailIsForTheOwnTopic": row(given(p.TargetEmail), equals(p.MakeTargetTopic, "on"), "TargetEmail is for the stack's own topic: set Targets to sns and MakeTargetTopic to on."),
		"SlackKeyNeedsASecret":        row(given(p.SlackSecretKMSKey), or(given(p.SlackSecretARN), given(p.SigningSecretARN)), "SlackSecretKmsKeyArn needs SlackSecretArn or SlackSigningSecretArn: the stack's own secrets use the account's key."),
		"SpokesNeedAnExternalId":      row(is(p.Spokes, "none"), is(p.ExternalID, "none"), "ExternalId is required with Spokes."),
		"SpokesAreListed": row(nil, or(and(equals(p.Spokes, "none"), none(p.SpokeAccounts), none(p.SpokeReaderRoles), none(p.SpokeCleanerRoles), none(p.SpokeRemediatorRoles)),
			and(is(p.Spokes, "none"), given(p.SpokeAccounts), given(p.SpokeReaderRoles))), "SpokeAccounts and SpokeReaderRoles list what Spokes names; without spokes no role of a spoke is listed."),
		"RemediesAreListed": row(equals(p.Remedies, "off"), and(none(p.RouteClusters), none(p.EndpointClusters), none(p.ReplaceClusters), none(p.ZoneClusters), none(p.AccessEntryClusters)),
			"The lists of clusters of remedies are for clusters that Remedies names, and it is off."),
		"DeletesAreListed": row(and(equals(p.Remedies, "off"), equals(p.Cleanup, "report")), none(p.InterfaceClusters), "DeleteInterfacesClusters is for clusters that Cleanup or Remedies names, and neither names one."),
		"UntaggedIsListed": row(given(p.InterfaceVPCs), and(is(p.CleanupUntagged, "none"), is(p.Cleanup, "report")), "DeleteInterfacesVpcs lists the VPCs of CleanupUntagged where a cluster has a mode in Cleanup."),
		"TargetsAreListed": row(equals(p.Targets, "none"), and(none(p.TargetSecrets), none(p.TargetTopics), equals(p.MakeTargetTopic, "off")), "TargetSecrets, TargetTopics and MakeTargetTopic are for what Targets names, and it is none."),
		"TargetsAreWhole":  row(is(p.Targets, "none"), or(given(p.TargetSecrets), given(p.TargetTopics), equals(p.MakeTargetTopic, "on")), "TargetSecrets, TargetTopics and MakeTargetTopic must say what Targets names: rollcall deploy computes them."),
	}
	return all
}
