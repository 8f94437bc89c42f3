package fakeslack

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/slack-go/slack"
)

func TestPress(t *testing.T) {
	got := make(chan slack.InteractionCallback, 1)
	status := http.StatusOK
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		v, err := slack.NewSecretsVerifier(r.Header, testSecret)
		if err == nil {
			_, _ = v.Write(body)
			err = v.Ensure()
		}
		if err != nil {
			t.Errorf("signature: %v", err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		call, err := slack.InteractionCallbackParse(r)
		if err != nil {
			t.Errorf("payload: %v", err)
		}
		w.WriteHeader(status)
		got <- call
	}))
	defer app.Close()
	s, api := start(t, nil)
	mute := slack.NewOptionsSelectBlockElement(slack.OptTypeStatic, plainObj("Mute"), "mute", slack.NewOptionBlockObject("1h", plainObj("1 hour"), nil))
	ts := post(t, api, say("broken"), slack.MsgOptionBlocks(slack.NewActionBlock("row", slack.NewButtonBlockElement("approve", "plan-1", plainObj("Approve")), mute)))
	ctx := context.Background()

	press := Press{Channel: alerts, TS: ts, ActionID: "approve"}
	if err := s.Press(ctx, press); !errors.Is(err, ErrNoInteractivityURL) {
		t.Fatalf("got %v, want ErrNoInteractivityURL", err)
	}
	s.SetInteractivityURL(app.URL)
	if err := s.Press(ctx, press); err != nil {
		t.Fatalf("Press: %v", err)
	}
	call := <-got
	a := call.ActionCallback.BlockActions
	if call.Type != slack.InteractionTypeBlockActions || len(a) != 1 || a[0].Value != "plan-1" || a[0].BlockID != "row" ||
		call.User.ID != oncall || call.Container.MessageTs != ts || call.Channel.ID != alerts {
		t.Errorf("got %+v", call)
	}

	answer := func(body string) (int, string) {
		resp, err := http.Post(call.ResponseURL, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var a struct{ Error string }
		_ = json.NewDecoder(resp.Body).Decode(&a)
		return resp.StatusCode, a.Error
	}
	answer(`{"text":"only you","response_type":"ephemeral"}`)
	answer(`{"text":"approved by oncall","replace_original":true}`)
	m := s.Messages(alerts)
	if len(m) != 2 || m[0].Text != "approved by oncall" || len(m[0].Blocks) != 0 || m[1].Visible != oncall {
		t.Errorf("got %+v, want the message replaced and an ephemeral one", m)
	}
	for range 3 {
		answer(`{"text":"again"}`)
	}
	if status, code := answer(`{"text":"sixth"}`); status != 404 || code != "used_url" {
		t.Errorf("sixth use: got %d %q, want 404 used_url", status, code)
	}

	ts = post(t, api, say("menu"), slack.MsgOptionBlocks(slack.NewActionBlock("row", mute)))
	if err := s.Press(ctx, Press{Channel: alerts, TS: ts, ActionID: "mute", Value: "1h", User: "U0DANA0001"}); err != nil {
		t.Fatalf("Press: %v", err)
	}
	if call = <-got; call.ActionCallback.BlockActions[0].SelectedOption.Value != "1h" || call.User.Name != "Dana" {
		t.Errorf("got %+v, want the option 1h chosen by Dana", call)
	}
	if _, err := api.OpenView(call.TriggerID, slack.ModalViewRequest{Type: slack.VTModal, Title: plainObj("T")}); err != nil {
		t.Errorf("OpenView: %v", err)
	}
	status = http.StatusInternalServerError
	err := s.Press(ctx, Press{Channel: alerts, TS: ts, ActionID: "mute", Value: "1h"})
	var pe *PressError
	if !errors.As(err, &pe) || pe.Status != 500 {
		t.Errorf("got %v, want a PressError with 500", err)
	}
	<-got
	if err := s.Press(ctx, Press{Channel: alerts, TS: ts, ActionID: "mute", Value: "2h"}); err == nil {
		t.Error("an option that is not there was chosen")
	}
}
