-- Owns how Neovim (0.7 or newer) starts `snarl lsp` for Java, and the commands that show what it finds.
-- Knows nothing of other servers, keys, colours or plugins.

-- The keys are in docs/lsp.md; for instance { confidence = 'high', guards = 'hint' }.
local settings = {}

-- The root is the nearest directory above that has one of the first group; if there is none, of the second, and so on.
-- A build file may be that of a module: then the root is further up, as long as there are build files.
local markers = {
  { 'snarl.toml' },
  { 'settings.gradle', 'settings.gradle.kts', 'gradlew', 'mvnw', '.git' },
  { 'pom.xml', 'build.gradle', 'build.gradle.kts' },
}

local function has_one(directory, names)
  for _, name in ipairs(names) do
    if (vim.uv or vim.loop).fs_stat(directory .. '/' .. name) then
      return true
    end
  end
  return false
end

local function above(directory)
  return vim.fn.fnamemodify(directory, ':h')
end

local function root(file)
  local home = vim.fn.fnamemodify(file, ':p:h')
  for group, names in ipairs(markers) do
    local directory, parent = home, nil
    while directory ~= parent do
      if has_one(directory, names) then
        while group == #markers and above(directory) ~= directory and has_one(above(directory), names) do
          directory = above(directory)
        end
        return directory
      end
      directory, parent = above(directory), directory
    end
  end
  return home
end

local capabilities = vim.lsp.protocol.make_client_capabilities()
capabilities.experimental = { snarl = true }
-- Told that there are other findings, 0.12 does not ask again for open buffers; without this it is sent them.
capabilities.workspace.diagnostics = { refreshSupport = false }

local config = {
  name = 'snarl',
  cmd = { 'snarl', 'lsp' },
  init_options = next(settings) and settings or nil, -- an empty table would become a list
  capabilities = capabilities,
  handlers = {
    -- For a status line: %{get(g:, 'snarl_state', '')}
    ['snarl/state'] = function(_, result)
      vim.g.snarl_state = result.state
      vim.cmd('redrawstatus!')
    end,
    ['snarl/findings'] = function() end,
  },
}

-- Buffers that other plugins fill from elsewhere have names like jdt://…, and no file.
local function has_file(buffer)
  local name = vim.api.nvim_buf_get_name(buffer)
  return name ~= '' and not name:match('^%a[%w+.-]+://')
end

if vim.lsp.config then -- 0.11 or newer
  config.filetypes = { 'java' }
  config.root_dir = function(buffer, start)
    if has_file(buffer) then
      start(root(vim.api.nvim_buf_get_name(buffer)))
    end
  end
  vim.lsp.config('snarl', config)
  vim.lsp.enable('snarl')
else
  local clients = {}
  vim.api.nvim_create_autocmd('FileType', {
    pattern = 'java',
    callback = function(event)
      if not has_file(event.buf) then
        return
      end
      local directory = root(vim.api.nvim_buf_get_name(event.buf))
      if not (clients[directory] and vim.lsp.get_client_by_id(clients[directory])) then
        clients[directory] = vim.lsp.start_client(vim.tbl_extend('force', config, {
          root_dir = directory,
          workspace_folders = { { uri = vim.uri_from_fname(directory), name = directory } },
        }))
      end
      vim.lsp.buf_attach_client(event.buf, clients[directory])
    end,
  })
end

-- Asks the server of this buffer to run a command, and hands what it answers to `show`.
local function execute(name, show, arguments)
  local buffer = vim.api.nvim_get_current_buf()
  local clients = vim.lsp.get_clients and vim.lsp.get_clients({ bufnr = buffer }) or vim.lsp.buf_get_clients(buffer)
  for _, client in pairs(clients) do
    if client.name == 'snarl' then
      local params = { command = name, arguments = arguments and arguments(client) or {} }
      local function answered(err, result)
        if err then
          vim.notify('snarl: ' .. err.message, vim.log.levels.ERROR)
        elseif result and result ~= vim.NIL then
          show(result, client)
        end
      end
      if vim.lsp.config then
        client:request('workspace/executeCommand', params, answered, buffer)
      else
        client.request('workspace/executeCommand', params, answered, buffer)
      end
      return
    end
  end
  vim.notify('snarl: no server for this buffer', vim.log.levels.WARN)
end

-- Every place of every finding, in the quickfix list.
vim.api.nvim_create_user_command('SnarlFindings', function()
  execute('snarl.findings', function(result)
    local items = {}
    for _, finding in ipairs(result.findings) do
      for _, site in ipairs(finding.sites) do
        if site.location then
          local start = site.location.range.start
          table.insert(items, {
            filename = vim.uri_to_fname(site.location.uri),
            lnum = start.line + 1,
            col = start.character + 1,
            text = ('%s: %s (%s in %s)'):format(finding.rule, finding.message, site.access, site.method),
          })
        end
      end
    end
    vim.fn.setqflist({}, ' ', { title = 'Snarl', items = items })
    vim.cmd('copen')
  end)
end, {})

-- What the last edit that changed any finding has introduced and fixed.
vim.api.nvim_create_user_command('SnarlDelta', function()
  execute('snarl.delta', function(delta)
    vim.notify(delta.text)
  end)
end, {})

-- From one side of the finding under the cursor to the other.
vim.api.nvim_create_user_command('SnarlOtherSide', function()
  execute('snarl.otherSide', function(location, client)
    local show = vim.lsp.util.show_document or vim.lsp.util.jump_to_location
    show(location, client.offset_encoding, { focus = true })
  end, function(client)
    local here = vim.lsp.util.make_position_params(0, client.offset_encoding)
    return { here.textDocument.uri, here.position.line, here.position.character }
  end)
end, {})
