// Shows what there is. Formats are shared by all requests, or one for each thread.
package board;

import java.io.IOException;
import java.io.PrintWriter;
import java.text.SimpleDateFormat;
import java.util.Date;
import java.util.HashMap;
import java.util.Map;
import javax.servlet.ServletConfig;
import javax.servlet.ServletException;
import javax.servlet.http.HttpServlet;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;

public class ListServlet extends HttpServlet {
    private static final SimpleDateFormat DAY = new SimpleDateFormat("yyyy-MM-dd");
    private static final ThreadLocal<SimpleDateFormat> TIME =
        ThreadLocal.withInitial(() -> new SimpleDateFormat("HH:mm"));

    private final Map<String, String> titles = new HashMap<>();
    private Messages messages;
    private Janitor janitor;

    @Override
    public void init(ServletConfig config) throws ServletException {
        super.init(config);
        messages = (Messages) config.getServletContext().getAttribute("messages"); //~ no unprotected-write: messages
        janitor = (Janitor) config.getServletContext().getAttribute("janitor"); //~ no unprotected-write: janitor
        titles.put("en", "Messages"); //~ no container-race: titles
        titles.put("de", "Nachrichten");
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response)
            throws ServletException, IOException {
        PrintWriter out = response.getWriter();
        out.println(titles.getOrDefault(request.getLocale().getLanguage(), "Messages"));
        out.println(DAY.format(new Date())); //~ container-race: DAY with line 39
        out.println(TIME.get().format(new Date(janitor.lastRun()))); //~ no container-race: TIME
        out.println(janitor.rounds() + " rounds, " + messages.archived() + " archived");
        for (String text : messages.newest()) {
            out.println(text);
        }
        out.println(messages.found(request.getParameter("word")));
    }

    @Override
    protected void doDelete(HttpServletRequest request, HttpServletResponse response)
            throws ServletException, IOException {
        messages.restore(Integer.parseInt(request.getParameter("most")));
    }
}
