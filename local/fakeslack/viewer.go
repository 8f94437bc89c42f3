package fakeslack

import "net/http"

// viewerCookie keeps who looks at the page, from one page to the next.
const viewerCookie = "fakeslack_viewer"

// viewer is who looks at the page: ?as= or the cookie names a user, else it is
// the first. The stand-in asks for no password: everybody may be anybody.
func (s *Server) viewer(r *http.Request) User {
	names := []string{r.URL.Query().Get("as")}
	if c, err := r.Cookie(viewerCookie); err == nil {
		names = append(names, c.Value)
	}
	for _, id := range names {
		if u := s.user(id); u != nil {
			return *u
		}
	}
	return s.cfg.Users[0]
}

// shownTo tells whether a user sees m: an ephemeral message is for one alone.
func (m *Message) shownTo(user string) bool { return m.Visible == "" || m.Visible == user }
