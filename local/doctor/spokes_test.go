package doctor

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/google/go-cmp/cmp"

	"rollcall/infra/specs"
	"rollcall/local/platform/template"
	"rollcall/local/simaws"
	"rollcall/local/stage"
	"rollcall/shared/checks"
	"rollcall/shared/config"
	"rollcall/shared/diagnose"
	"rollcall/shared/incident"
	"rollcall/shared/kube"
	"rollcall/shared/report"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
)

// payments is another account and region that the deployment of the tests watches.
var payments = spoke.ID{Account: "222233334444", Region: "eu-west-1"}

// watching is a deployment that watches it.
func watching(change func(*deployed)) *deployed {
	p := &deployed{
		spokes:   []stage.Spoke{{ID: payments, World: "../worlds/route.yaml"}},
		settings: map[string]string{"ROLLCALL_SPOKES": "111122223333/us-west-2=shop," + payments.String() + "=payments", "ROLLCALL_EXTERNAL_ID": stage.SpokeExternalID},
	}
	if change != nil {
		change(p)
	}
	return p
}

// elsewhere opens the other account for a person who has credentials of it.
func (p *deployed) elsewhere(_ context.Context, id spoke.ID) (Elsewhere, error) {
	if p.outsider {
		return Elsewhere{}, ErrNoWay
	}
	cfg := p.AsAdminIn(id)
	cfg.Retryer = func() aws.Retryer { return retry.AddWithMaxAttempts(retry.NewStandard(), 1) }
	e := NewElsewhere(cfg)
	e.Kubernetes = func(ctx context.Context, of Cluster) (Kubernetes, error) {
		token, err := kube.Token(ctx, sts.NewPresignClient(sts.NewFromConfig(cfg)), of.Name)
		if err != nil {
			return nil, err
		}
		return kube.NewVia(p.HTTPClient().Transport, of.Endpoint, of.CA, token)
	}
	return e, nil
}

// spokeRule is the ARN of a rule of the spoke.
func (p *deployed) spokeRule(begin string) string {
	p.t.Helper()
	for _, r := range p.SpokeTemplate(payments).Rules {
		if strings.HasPrefix(r.LogicalID, begin) {
			return r.ARN
		}
	}
	p.t.Fatalf("there is no rule %s", begin)
	return ""
}

// copyOf is the ARN of a copy of the hub's rules on the bus of spokes.
func (p *deployed) copyOf(begin string) string {
	arn := strings.Replace(p.rule(begin).ARN, ":rule/", ":rule/"+stage.SpokesBus+"/", 1)
	i := strings.LastIndex(arn, "Rule")
	return arn[:i] + "OfSpokes" + arn[i:]
}

// reader is the role that the spoke's clusters let in.
func readerThere() *string {
	return aws.String("arn:aws:iam::" + payments.Account + ":role/rollcall-reader-" + payments.Region)
}

// Where nothing is wrong with a spoke nothing is found, its clusters are looked at too, and
// the table at the end says whose each cluster is.
func TestSpokeIsWell(t *testing.T) {
	p := deploy(t, watching(nil))
	list := p.examined(false)
	if healthy, whole := Healthy(list); !healthy || !whole {
		t.Fatalf("found\n%s\nnot seen\n%s", strings.Join(of(list, Wrong), "\n"), strings.Join(of(list, Unknown), "\n"))
	}
	for _, want := range []string{
		"spoke payments (222233334444/eu-west-1) lets the hub in, and forwards to it", "event bus rollcall-spokes takes in what the spokes send",
		"cluster 222233334444/eu-west-1/eks-workshop lets in who reads in it", "cluster eks-workshop lets in who reads in it", "ClusterRole 222233334444/eu-west-1/eks-workshop grants what this release reads",
	} {
		if !slices.Contains(of(list, Well), want) {
			t.Errorf("of what is well there is\n%s\nwant %s", strings.Join(of(list, Well), "\n"), want)
		}
	}
	var b strings.Builder
	if err := Print(&b, list); err != nil {
		t.Fatal(err)
	}
	want := `
   CLUSTER       ACCOUNT       REGION     NAME
✓  eks-workshop  222233334444  eu-west-1  payments
✓  eks-workshop  111122223333  us-west-2  shop
`
	if !strings.HasSuffix(b.String(), want) {
		t.Errorf("it ends with\n%s\nwant\n%s", b.String()[max(0, b.Len()-400):], want)
	}
}

// Whatever is wrong with a spoke is found by its name, with what to do, and nothing else is
// found.
func TestEachThingThatCanBeWrongWithASpoke(t *testing.T) {
	const named = "spoke payments (222233334444/eu-west-1) "
	optedIn := map[string]string{string(config.Cleanup): payments.In("eks-workshop") + "=delete"}
	remedied := map[string]string{string(config.Remedies): payments.In("eks-workshop") + "/add-nat-route=approve", string(config.RemedyVPCs): "vpc-0a1b2c3d4e5f60718"}
	entry := func(p *deployed, group ...string) {
		client := eks.NewFromConfig(p.AsAdminIn(payments))
		p.must(client.DeleteAccessEntry(p.t.Context(), &eks.DeleteAccessEntryInput{ClusterName: aws.String("eks-workshop"), PrincipalArn: readerThere()}))
		if group != nil {
			p.must(client.CreateAccessEntry(p.t.Context(), &eks.CreateAccessEntryInput{ClusterName: aws.String("eks-workshop"), PrincipalArn: readerThere(), KubernetesGroups: group}))
		}
	}
	for name, tt := range map[string]struct {
		deployed func(*deployed)
		damage   func(*deployed)
		want     []string
		do       string
	}{
		"its stack is not there": {damage: func(p *deployed) { p.LoseSpoke(payments) },
			want: []string{named + "its stack is not there: there is no role rollcall-reader-eu-west-1, and nothing of it is watched"},
			do:   "make deploy-spoke HUB='111122223333/us-west-2' EXTERNAL_ID='" + stage.SpokeExternalID + "'"},
		"it trusts another hub": {damage: func(p *deployed) { p.must(nil, p.Redeploy(payments, map[string]string{"HubAccount": "999999999999"})) },
			want: []string{named + "its role rollcall-reader-eu-west-1 does not let the hub in: it trusts 999999999999, and the hub is 111122223333", named + "none of its 11 rules is there and forwards to this hub's bus"}, do: "make deploy-spoke HUB="},
		"it wants another external id": {damage: func(p *deployed) {
			p.must(nil, p.Redeploy(payments, map[string]string{"ExternalId": "another-customer"}))
		},
			want: []string{named + "its role rollcall-reader-eu-west-1 does not let the hub in: it wants another external id than the hub's setting externalId"}, do: "make deploy-spoke HUB="},
		"it is of a hub in another region": {damage: func(p *deployed) { p.must(nil, p.Redeploy(payments, map[string]string{"HubRegion": "us-east-1"})) },
			want: []string{named + "none of its 11 rules is there and forwards to this hub's bus"}, do: "make deploy-spoke HUB="},
		"its rules are gone, but one": {damage: func(p *deployed) {
			for _, r := range p.SpokeTemplate(payments).Rules[1:] {
				p.SpokeDeployment(payments).Delete(r.ARN)
			}
		}, want: slices.Repeat([]string{named + "its rule Forward"}, 10), do: "make deploy-spoke HUB="},
		"a rule is gone": {damage: func(p *deployed) {
			p.SpokeDeployment(payments).Delete(p.spokeRule("ForwardLaunchWatchRunningRule"))
		}, want: []string{named + "its rule ForwardLaunchWatchRunningRule is not there, or does not forward to this hub's bus. "}, do: "make deploy-spoke HUB="},
		"a rule is disabled": {damage: func(p *deployed) {
			p.SpokeDeployment(payments).Disable(p.spokeRule("ForwardLaunchWatchLaunchesRule"))
		}, want: []string{"ForwardLaunchWatchLaunchesRule"}, do: "aws events enable-rule --region 'eu-west-1' --name '"},
		"it is of another release": {damage: func(p *deployed) {
			p.SpokeDeployment(payments).Tag(*readerThere(), map[string]string{specs.SpokeTag: "0123456789ab"})
		}, want: []string{named + "its stack is of another release: "}, do: "make deploy-spoke HUB="},
		"it is of a release that wrote no tag": {damage: func(p *deployed) { p.SpokeDeployment(payments).Tag(*readerThere(), nil) },
			want: []string{named + "its stack is of another release: "}, do: "make deploy-spoke HUB="},
		"it does not know a function": {damage: func(p *deployed) {
			p.SpokeDeployment(payments).Distrust(*readerThere(), roleOf(p, "sweep"))
		}, want: []string{named + "its role rollcall-reader-eu-west-1 does not let the hub in: it does not know rollcall-sweep"}, do: "make deploy-spoke HUB="},
		"the region is not enabled": {damage: func(p *deployed) { p.DisableRegion(payments, true) },
			want: []string{named + "the region eu-west-1 is not enabled in account 222233334444: nothing of it can be watched"}, do: "aws account enable-region --region-name 'eu-west-1'"},
		"the hub's bus does not take it in": {damage: func(p *deployed) {
			p.Deployment.AddBus(stage.SpokesBus, `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::333344445555:root"},"Action":"events:PutEvents","Resource":"*"}]}`)
		}, want: []string{"event bus rollcall-spokes does not take in what payments (222233334444/eu-west-1) sends"}, do: "make deploy"},
		"the hub has no such bus": {damage: func(p *deployed) { p.Deployment.AddBus(stage.SpokesBus, "") },
			want: []string{"event bus rollcall-spokes is not there: "}, do: "make deploy"},
		"a copy of a rule is gone": {damage: func(p *deployed) { p.Deployment.Delete(p.copyOf("LaunchWatchRunningRule")) },
			want: []string{"rule LaunchWatchRunningOfSpokesRule is not there, or does not lead to rollcall-launch-watch. It is for what spokes forward. "}, do: "make deploy"},
		"a copy of a rule leads nowhere": {damage: func(p *deployed) {
			p.Deployment.ChangeRule(p.copyOf("LaunchWatchRunningRule"), func(r *template.Rule) { r.Targets = nil })
		}, want: []string{"rule LaunchWatchRunningOfSpokesRule is not there, or does not lead to rollcall-launch-watch. It is for what spokes forward. "}, do: "make deploy"},
		"a copy of a rule is disabled": {damage: func(p *deployed) { p.Deployment.Disable(p.copyOf("LaunchWatchLaunchesRule")) },
			want: []string{" is disabled. It is for what spokes forward. "}, do: " --event-bus-name 'rollcall-spokes'"},
		"a copy of a rule has another pattern": {damage: func(p *deployed) {
			p.Deployment.ChangeRule(p.copyOf("LaunchWatchLaunchesRule"), func(r *template.Rule) { r.Pattern = []byte(`{"source":["aws.autoscaling"]}`) })
		}, want: []string{" has another pattern than this release's. It is for what spokes forward. "}, do: " --event-bus-name 'rollcall-spokes' --event-pattern '{"},
		"a cluster does not let the reader in": {damage: func(p *deployed) { entry(p) },
			want: []string{"access entry 222233334444/eu-west-1/eks-workshop rollcall-reader-eu-west-1 there is none for the role rollcall-reader-eu-west-1"},
			do:   "aws eks create-access-entry --region 'eu-west-1' --cluster-name 'eks-workshop' --principal-arn 'arn:aws:iam::222233334444:role/rollcall-reader-eu-west-1'"},
		"its stack was deleted and deployed again": {damage: func(p *deployed) {
			p.LoseSpoke(payments)
			p.must(nil, p.Redeploy(payments, nil))
			p.SpokeDeployment(payments).Remake("arn:aws:iam::222233334444:role/rollcall-reader-eu-west-1", p.Clock.Now().Add(time.Hour))
		}, want: []string{"access entry 222233334444/eu-west-1/eks-workshop rollcall-reader-eu-west-1 it is of 2026-"}, do: "aws eks delete-access-entry --region 'eu-west-1' --cluster-name 'eks-workshop'"},
		"a cluster lets the reader read nothing": {damage: func(p *deployed) { entry(p, "others") },
			want: []string{"access entry 222233334444/eu-west-1/eks-workshop rollcall-reader-eu-west-1 it gives the role "}, do: "with credentials of account 222233334444"},
		"a cluster that is not there": {deployed: func(p *deployed) { p.settings[string(config.Clusters)] = "eks-workshop," + payments.In("staging") },
			want: []string{"cluster 222233334444/eu-west-1/staging is not there, and the setting clusters names it"}, do: "make deploy"},
		"opted in to deletes at the hub alone": {deployed: func(p *deployed) { p.settings[string(config.Cleanup)] = optedIn[string(config.Cleanup)] },
			want: []string{named + "a cluster of it has opted in at the hub (cleanup), and there is no role rollcall-cleaner-eu-west-1 there: nothing of that is done"},
			do:   `SPOKE='222233334444/eu-west-1' SET="cleanup=222233334444/eu-west-1/eks-workshop=delete"`},
		"opted in to remedies at the hub alone": {deployed: func(p *deployed) {
			for k, v := range remedied {
				p.settings[k] = v
			}
		}, want: []string{named + "a cluster of it has opted in at the hub (remedies), and there is no role rollcall-remediator-eu-west-1 there: nothing of that is done"},
			do: `SPOKE='222233334444/eu-west-1' SET="remedies=`},
		"opted in to deletes in the spoke alone": {deployed: func(p *deployed) { p.spokes[0].OptedIn = optedIn },
			want: []string{named + "it has a role rollcall-cleaner-eu-west-1 that changes things, and no cluster of it has opted in at the hub (cleanup)"}, do: "make deploy-spoke HUB="},
		"opted in to remedies in the spoke alone": {deployed: func(p *deployed) { p.spokes[0].OptedIn = remedied },
			want: []string{named + "it has a role rollcall-remediator-eu-west-1 that changes things, and no cluster of it has opted in at the hub (remedies)"}, do: "make deploy-spoke HUB="},
		"the hub is out of its organization": {deployed: func(p *deployed) { p.spokes[0].Organization = "o-a1b2c3d4e5" }, damage: func(p *deployed) { p.cannotLook() },
			want: []string{named + "cannot look at this account and region: Rollcall's role there does not let it in, since 2001-09-09 01:46 UTC"}, do: "the account has left the organization"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := deploy(t, watching(tt.deployed))
			if tt.damage != nil {
				tt.damage(p)
			}
			list := p.examined(false)
			wrong := of(list, Wrong)
			if len(wrong) != len(tt.want) || len(of(list, Unknown)) > 0 {
				t.Fatalf("found\n%s\nnot seen\n%s\nwant %q", strings.Join(wrong, "\n"), strings.Join(of(list, Unknown), "\n"), tt.want)
			}
			for i, want := range tt.want {
				if !strings.Contains(wrong[i], want) {
					t.Errorf("found %q, want %q in it", wrong[i], want)
				}
			}
			for _, f := range list {
				if f.State == Wrong && !strings.Contains(f.Do+" "+f.Command, tt.do) {
					t.Errorf("to do is %q %q, want %q in it", f.Do, f.Command, tt.do)
				}
			}
		})
	}
}

// What of the hub may not be read about spokes is not known, by the name of the permission.
func TestBusThatMayNotBeRead(t *testing.T) {
	const action = "events:DescribeEventBus"
	p := deploy(t, watching(func(p *deployed) { p.refused = []simaws.FaultRule{{Call: action, Deny: true}} }))
	list := p.examined(false)
	if diff := cmp.Diff([]string{"event bus rollcall-spokes " + action + " was refused"}, of(list, Unknown)); diff != "" || len(of(list, Wrong)) > 0 {
		t.Errorf("wrong %q, not seen (-want +got):\n%s", of(list, Wrong), diff)
	}
}

// What was opted in to on both sides is well.
func TestSpokeThatOptedIn(t *testing.T) {
	chosen := map[string]string{
		string(config.Cleanup): payments.In("eks-workshop") + "=delete", string(config.RemedyVPCs): "vpc-0a1b2c3d4e5f60718",
		string(config.Remedies): payments.In("eks-workshop") + "/add-nat-route=approve",
	}
	p := deploy(t, watching(func(p *deployed) {
		p.spokes[0].OptedIn = chosen
		for k, v := range chosen {
			p.settings[k] = v
		}
	}))
	if list := p.examined(false); len(of(list, Wrong))+len(of(list, Unknown)) > 0 {
		t.Errorf("found %q, not seen %q", of(list, Wrong), of(list, Unknown))
	}
}

// Without credentials of the account what is deployed there is not known, and how it could be
// is said; that the hub is not let in is known all the same.
func TestSpokeWithoutCredentials(t *testing.T) {
	p := deploy(t, watching(func(p *deployed) { p.outsider = true }))
	list := p.examined(false)
	want := []string{"spoke payments (222233334444/eu-west-1) what is deployed there was not looked at: no credentials of that account were given"}
	if diff := cmp.Diff(want, of(list, Unknown)); diff != "" || len(of(list, Wrong)) > 0 {
		t.Errorf("wrong %q, not seen (-want +got):\n%s", of(list, Wrong), diff)
	}
	for _, f := range list {
		if f.State == Unknown && !strings.Contains(f.Do, "--spoke-role") {
			t.Errorf("to do is %q", f.Do)
		}
	}
	if got := rows(list); len(got) != 2 || got[0] != (clusterRow{"eks-workshop", "111122223333", "us-west-2", "shop", Well}) || got[1] != (clusterRow{unlooked, payments.Account, payments.Region, "payments", Unknown}) {
		t.Errorf("the table has %+v", got)
	}
	p.cannotLook()
	if wrong := of(p.examined(false), Wrong); len(wrong) != 1 || !strings.Contains(wrong[0], "Rollcall's role there does not let it in, since 2001-09-09 01:46 UTC") {
		t.Errorf("found %q", wrong)
	}
}

// cannotLook is the hub's own record that the spoke does not let it in.
func (p *deployed) cannotLook() {
	p.t.Helper()
	s := store.New(dynamodb.NewFromConfig(p.AsAdmin()), p.Template.Tables[0].Name).In(payments)
	p.must(s.SaveIncident(p.t.Context(), incident.Incident{
		Key: report.Key{Cluster: report.AllClusters, Check: incident.CannotLook, Resource: report.AssumeRole, Spoke: payments}, State: incident.Open, Began: time.Unix(1e9, 0),
		Cause: diagnose.Cause{Title: "cannot look at this account and region: Rollcall's role there does not let it in", Fix: checks.Fix{Text: "Deploy it again, or the account has left the organization."}},
	}))
}

// A cluster of a spoke that does not let the hub in is not well, however it is itself.
func TestClustersOfABrokenSpoke(t *testing.T) {
	list := []Finding{
		{Part: "cluster", State: Well, Cluster: "prod", Account: "1", Region: "r"}, {Part: "access entry", State: Unknown, Cluster: "dev", Account: "1", Region: "r"},
		{Part: "cluster", State: Well, Cluster: "prod", Account: "2", Region: "r"}, {Part: "spoke", State: Wrong, Account: "1", Region: "r"}, {Part: "spoke", State: Well, Account: "2", Region: "r"},
	}
	want := []clusterRow{{"prod", "1", "r", "", Wrong}, {"dev", "1", "r", "", Wrong}, {"prod", "2", "r", "", Well}}
	if diff := cmp.Diff(want, rows(list), cmp.AllowUnexported(clusterRow{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A role's form matches roles of a function, and none of another account or name.
func TestFits(t *testing.T) {
	const form = "arn:aws:iam::111122223333:role/Rollcall-SweepRole*"
	for arn, want := range map[string]bool{
		"arn:aws:iam::111122223333:role/Rollcall-SweepRole1A2B-3C": true, "arn:aws:iam::999999999999:role/Rollcall-SweepRole1A2B-3C": false,
		"arn:aws:iam::111122223333:role/Rollcall-ReportRole1A2B-3C": false, "arn:aws:iam::111122223333:role/Rollcall-SweepRole1/x": false,
	} {
		if got := fits(form, arn); got != want {
			t.Errorf("%s: %t", arn, got)
		}
	}
}
