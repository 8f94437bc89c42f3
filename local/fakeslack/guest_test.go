package fakeslack

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/slack-go/slack"
)

// TestWhereSomebodyIsFrom: as Slack does, the stand-in says of a guest only in
// user.team_id that they are one. Its auth.test tells the organization.
func TestWhereSomebodyIsFrom(t *testing.T) {
	type of struct {
		User struct {
			Team string `json:"team_id"`
		}
		Team struct {
			ID         string
			Enterprise string `json:"enterprise_id"`
		}
		Enterprise *struct{ ID string }
	}
	for name, test := range map[string]struct {
		enterprise string
		user       User
		want       string // the person's, the team, its organization, the installation's
	}{
		"a colleague":                   {"", User{}, "T0STAGE001 T0STAGE001 - -"},
		"a guest":                       {"", User{Team: "T0OTHER001"}, "T0OTHER001 T0STAGE001 - -"},
		"a colleague in the grid":       {"E0ACME0001", User{}, "T0STAGE001 T0STAGE001 E0ACME0001 E0ACME0001"},
		"a guest in the grid":           {"E0ACME0001", User{Team: "T0OTHER001"}, "T0OTHER001 T0STAGE001 E0ACME0001 E0ACME0001"},
		"another workspace of the grid": {"E0ACME0001", User{Team: "T0SISTER01", Enterprise: "E0ACME0001"}, "T0SISTER01 T0SISTER01 E0ACME0001 E0ACME0001"},
	} {
		t.Run(name, func(t *testing.T) {
			got := make(chan of, 1)
			app := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				var p of
				if err := json.Unmarshal([]byte(r.FormValue("payload")), &p); err != nil {
					t.Error(err)
				}
				got <- p
			}))
			defer app.Close()
			test.user.ID, test.user.Name = "U0SOMEBODY", "somebody"
			s, api := start(t, func(c *Config) { c.Enterprise, c.Users = test.enterprise, []User{test.user} })
			s.SetInteractivityURL(app.URL)
			ts := post(t, api, say("broken"), slack.MsgOptionBlocks(slack.NewActionBlock("row", slack.NewButtonBlockElement("a", "1", plainObj("A")))))
			if err := s.Press(context.Background(), Press{Channel: alerts, TS: ts, ActionID: "a"}); err != nil {
				t.Fatal(err)
			}
			p := <-got
			installed, team := "-", "-"
			if p.Enterprise != nil {
				installed = p.Enterprise.ID
			}
			if p.Team.Enterprise != "" {
				team = p.Team.Enterprise
			}
			if diff := cmp.Diff(test.want, p.User.Team+" "+p.Team.ID+" "+team+" "+installed); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			own, err := api.AuthTest()
			if err != nil || own.TeamID != "T0STAGE001" || own.EnterpriseID != test.enterprise {
				t.Errorf("auth.test says %+v, %v", own, err)
			}
		})
	}
}
