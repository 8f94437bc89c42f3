package stage

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"rollcall/local/platform/functionurl"
	"rollcall/local/platform/template"
)

// slackActions is the folder of the function that Slack calls.
const slackActions = "slack-actions"

// serveURLs serves the functions that have an address of their own, on
// loopback, and tells Slack the address of the one that takes its presses.
func (s *Stage) serveURLs() error {
	for _, u := range s.Template.URLs {
		f, ok := s.Template.Function(u.FunctionName)
		if !ok || s.options.Binaries == "" && s.network == nil {
			continue
		}
		handler := &functionurl.Handler{Function: f.Name, Invoker: s.Runtime, NewID: ids(), Now: time.Now}
		if s.network != nil {
			host := Folder(f) + ".lambda-url.invalid"
			s.network.Serve(host, handler)
			s.reachAt(f, "http://"+host+"/")
			continue
		}
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return fmt.Errorf("serve the address of %s: %w", f.Name, err)
		}
		server := &http.Server{
			Handler: handler,
			// Whoever sends slowly is let go some time.
			ReadTimeout: 30 * time.Second,
		}
		s.background(func() {
			if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
				s.log.Error("serve the address of a function", "function", f.Name, "error", err)
			}
		})
		s.onClose(func() { server.Close() })
		s.reachAt(f, "http://"+listener.Addr().String()+"/")
	}
	return nil
}

// reachAt notes a function's address.
func (s *Stage) reachAt(f template.Function, url string) {
	s.urls[f.Name] = url
	if Folder(f) == slackActions {
		s.Slack.SetInteractivityURL(url)
	}
}

// URL is the address of the function whose folder has the name; empty if it has
// none.
func (s *Stage) URL(folder string) string {
	f, _ := s.Function(folder)
	return s.urls[f.Name]
}

// secretOf is the secret to which a function's variable refers by its ARN.
func (s *Stage) secretOf(arn string) (template.Secret, bool) {
	for _, secret := range s.Template.Secrets {
		if secret.ARN == arn {
			return secret, true
		}
	}
	return template.Secret{}, false
}
