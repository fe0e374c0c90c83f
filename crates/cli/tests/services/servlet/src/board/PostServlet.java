// Two requests at once: the second one's name may stand below the first one's text.
package board;

import java.io.IOException;
import javax.servlet.ServletException;
import javax.servlet.annotation.WebServlet;
import javax.servlet.http.HttpServlet;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;

@WebServlet("/post")
public class PostServlet extends HttpServlet {
    private Messages messages;
    private String author;
    private int longest;

    @Override
    public void init() {
        messages = (Messages) getServletContext().getAttribute("messages"); //~ no unprotected-write: messages
    }

    @Override
    protected void doPost(HttpServletRequest request, HttpServletResponse response)
            throws ServletException, IOException {
        author = request.getParameter("author"); //~ unprotected-write: author
        String text = request.getParameter("text");
        if (text == null || text.isEmpty()) {
            response.sendError(400);
            return;
        }
        synchronized (this) {
            longest = Math.max(longest, text.length()); //~ no unprotected-write: longest
        }
        Draft draft = new Draft();
        draft.text = text; //~ no unprotected-write: text
        messages.post(draft.text + " (" + author + ")");
        response.sendRedirect("list");
    }

    @Override
    public void destroy() {
        messages = null; //~ no unprotected-write: messages
    }

    /** Each request has its own. */
    private static final class Draft {
        String text;
    }
}
