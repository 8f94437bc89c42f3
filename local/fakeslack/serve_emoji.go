package fakeslack

import (
	"net/http"
	"strings"

	"rollcall/local/fakeslack/draw"
)

// serveEmoji sends one picture.
func (s *Server) serveEmoji(w http.ResponseWriter, r *http.Request) {
	e, ok := draw.EmojiNamed(strings.TrimSuffix(r.PathValue("name"), ".svg"))
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "image/svg+xml")
	w.Header().Set("Cache-Control", "max-age=3600")
	_, _ = w.Write([]byte(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">` + e.Svg + `</svg>`))
}
