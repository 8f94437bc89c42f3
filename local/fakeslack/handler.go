package fakeslack

import "net/http"

// Handler is the server without its listener, for tests in which time is not
// the machine's.
func (s *Server) Handler() http.Handler { return s.http.Handler }
