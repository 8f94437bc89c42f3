package report

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/config"
	"rollcall/shared/incident"
	"rollcall/shared/notify/notifytest"
	"rollcall/shared/report"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
)

// TestAliasesAreNoKeys: two accounts that say they have the same alias, and one whose alias is
// the number of another: each has its own incident, record, event and button, and an approval
// of one approves nothing of another. IAM lets no two accounts have one alias.
func TestAliasesAreNoKeys(t *testing.T) {
	b := newBench(t)
	b.approvers = []string{notifytest.Dana}
	search, liar := spoke.ID{Account: "333344445555", Region: hub.Region}, spoke.ID{Account: "444455556666", Region: hub.Region}
	invoke := framedFor(b, payments.String()+","+search.String()+","+liar.String())
	aliases := map[spoke.ID]string{payments: "acme", search: "acme", liar: payments.Account}
	own := []spoke.ID{payments, search, liar}
	var seen []string
	for _, id := range own {
		if err := b.store.In(id).SaveAlias(t.Context(), store.Alias{At: b.now, Alias: aliases[id]}); err != nil {
			t.Fatal(err)
		}
		obs := notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting)).For(id)
		obs.ID, obs.At = "observation", b.now
		seen = append(seen, b.body(obs))
	}
	if failed := invoke(seen...); len(failed) > 0 {
		t.Fatalf("given back: %q", failed)
	}
	whose := map[spoke.ID]string{payments: "eks-workshop (acme)", search: "eks-workshop (acme)", liar: "eks-workshop (444455556666)"}
	keys := map[string]bool{}
	for _, id := range own {
		inc := b.incidentOf(id)
		keys[inc.Key.Name()] = true
		if inc.Key.Spoke != id || inc.Account != id.Account || strings.Contains(inc.Key.Name(), "acme") || !strings.Contains(inc.Key.Name(), id.Account) {
			t.Errorf("the incident of %s is %s of %s", id, inc.Key.Name(), inc.Account)
		}
		if says := b.message(inc.Delivery.TS); !strings.Contains(says, whose[id]) {
			t.Errorf("the message of %s is %q, want %q in it", id, says, whose[id])
		}
	}
	if len(b.channel.Posts()) != 3 || len(keys) != 3 {
		t.Fatalf("%d messages and %d keys, want one each", len(b.channel.Posts()), len(keys))
	}

	b.now = notifytest.Start.Add(time.Minute)
	var offered []string
	for _, id := range own {
		p := proposal(b.now)
		p.Key.Spoke, p.Plan.Account, p.Plan.Region = id, id.Account, id.Region
		p.Format++
		p.Hash = p.Plan.Hash()
		offered = append(offered, b.body(p))
	}
	if failed := invoke(offered...); len(failed) > 0 {
		t.Fatalf("given back: %q", failed)
	}
	p := b.press(notifytest.Dana, report.ApprovePlan)
	p.At, p.Key.Spoke, p.Plan, p.TS = b.now, payments, b.incidentOf(payments).Offers[0].Hash, b.incidentOf(payments).Delivery.TS
	m, err := report.EncodePress(p)
	if err != nil {
		t.Fatal(err)
	}
	b.passOn(p)
	if failed := invoke(string(m.Body)); len(failed) > 0 {
		t.Fatalf("given back: %q", failed)
	}
	got := map[spoke.ID]incident.OfferState{}
	for _, id := range own {
		got[id] = b.incidentOf(id).Offers[0].State
	}
	if diff := cmp.Diff(map[spoke.ID]incident.OfferState{payments: incident.Approved, search: incident.Offered, liar: incident.Offered}, got); diff != "" {
		t.Errorf("offers after the approval of payments (-want +got):\n%s", diff)
	}
	for _, e := range b.bus.Told {
		if e.Kind == incident.EventApproved && e.Account != payments.Account {
			t.Errorf("the bus is told of an approval in %s", e.Account)
		}
	}
}

// counting is a record of an alias that counts how often it is read.
type counting struct {
	alias store.Alias
	known bool
	err   error
	n     int
}

func (a *counting) Alias(context.Context) (store.Alias, bool, error) {
	a.n++
	return a.alias, a.known, a.err
}

// TestNameIsReadNowAndThen: the record is read once an hour where there is one, every five
// minutes where there is none yet; never where the settings give a name or nothing is to be
// told apart; and where the table does not answer the name is the one of before.
func TestNameIsReadNowAndThen(t *testing.T) {
	b := newBench(t)
	load := func(spokes string) config.Config {
		env := map[string]string{"AWS_REGION": hub.Region, "ROLLCALL_ACCOUNT": hub.Account, "ROLLCALL_EXTERNAL_ID": "rollcall-1", "ROLLCALL_SPOKES": spokes}
		c, err := config.Load(func(name string) string { return env[name] }, config.SpokeVariables())
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for _, c := range []config.Config{load("none"), load(payments.String() + "=payments").In(payments)} {
		a := &counting{alias: store.Alias{Alias: "acme"}, known: true}
		if got := b.name(t.Context(), newNaming(c, a)); a.n != 0 || got != c.Whose() {
			t.Errorf("%q: asked %d times", got, a.n)
		}
	}
	a := &counting{}
	n := newNaming(load(payments.String()).In(payments), a)
	step := func(after time.Duration, want string, asked int) {
		t.Helper()
		b.now = b.now.Add(after)
		if got := b.name(t.Context(), n); got != want || a.n != asked {
			t.Errorf("it is %q, asked %d times; want %q, %d", got, a.n, want, asked)
		}
	}
	step(0, payments.Account, 1)
	step(4*time.Minute, payments.Account, 1)
	a.alias, a.known = store.Alias{Alias: "acme"}, true
	step(time.Minute, "acme", 2)
	step(59*time.Minute, "acme", 2)
	a.err = errors.New("throttled")
	step(time.Minute, "acme", 3)
	a.err, a.alias = nil, store.Alias{}
	step(5*time.Minute, payments.Account, 4)
	step(59*time.Minute, payments.Account, 4)
}
