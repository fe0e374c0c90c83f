// Starts what runs beside the requests, and ends it.
package board;

import javax.servlet.ServletContextEvent;
import javax.servlet.ServletContextListener;
import javax.servlet.annotation.WebListener;

@WebListener
public class Startup implements ServletContextListener {
    private Janitor janitor;
    private Thread thread;
    private Mailer mailer;

    @Override
    public void contextInitialized(ServletContextEvent event) {
        Messages messages = new Messages();
        event.getServletContext().setAttribute("messages", messages);
        janitor = new Janitor(messages); //~ no unprotected-write: janitor
        event.getServletContext().setAttribute("janitor", janitor);
        thread = new Thread(janitor, "janitor"); //~ no unprotected-write: thread
        thread.start();
        mailer = new Mailer(messages); //~ no unprotected-write: mailer
        mailer.start();
    }

    @Override
    public void contextDestroyed(ServletContextEvent event) {
        janitor.stop();
        thread.interrupt();
        thread = null; //~ no unprotected-write: thread
        mailer.end();
    }
}
